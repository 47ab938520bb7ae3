/** Large bodies of text and of records, read in a thread. */
import { type AbortSignalLike, type StringTensor, stringTensor } from '@sagemaker-tfs/tensors';
import type { Answer } from '../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../threads/text-threads.ts';
import type { DecodeContext, HeldPictures, ReadRequest, RequestCodec } from './codec.ts';
import { csvRequest } from './csv.ts';
import { inputError } from './input-error.ts';
import { jsonRequest } from './json-request.ts';
import { lengthPrefixedRequest } from './length-prefixed.ts';
import { parquetRequest } from './parquet.ts';
import { protobufRecordIoRequest, recordIoRequest } from './recordio.ts';
import { tfRecordRequest } from './tfrecord.ts';

const CODECS = {
  json: jsonRequest,
  csv: csvRequest,
  tfrecord: tfRecordRequest,
  recordio: recordIoRequest,
  'recordio-protobuf': protobufRecordIoRequest,
  'length-prefixed': lengthPrefixedRequest,
  parquet: parquetRequest,
} as const;

/** Codecs whose bodies take work for every value or record. */
type BodyKind = keyof typeof CODECS;

/** A body to read. */
export interface BodyTask extends TextTask {
  readonly kind: BodyKind;
  readonly context: Omit<DecodeContext, 'signal'>;
}

/** A request as it comes from the thread. */
export type HandedRequest = Omit<ReadRequest, 'inputs' | 'pictures'> & {
  readonly inputs: HandedTensors;
  readonly pictures: readonly (Pick<HeldPictures, 'input'> & { readonly images: HandedTensors })[];
};

/** What a thread calls the codec; undefined if none reads its bodies. */
export function bodyKind(codec: RequestCodec): BodyKind | undefined {
  const [found] = Object.entries(CODECS).find(([, known]) => known === codec) ?? [];
  return found as BodyKind | undefined;
}

/** A small body of Parquet may unpack to a large one. */
function leastBytes(kind: BodyKind): number | undefined {
  return kind === 'parquet' ? 0 : undefined;
}

/** Has a thread read a body; see {@link readInThread}. */
export async function readBodyInThread(
  task: BodyTask,
  signal?: AbortSignalLike,
): Promise<ReadRequest | undefined> {
  const read = await readInThread<HandedRequest>(task, signal, leastBytes(task.kind));
  if (!read) return undefined;
  const pictures: HeldPictures[] = [];
  for (const { input, images } of read.pictures) {
    const taken = await takenOver(images, signal);
    pictures.push({ input, images: (taken.images as StringTensor).values });
  }
  return { ...read, inputs: await takenOver(read.inputs, signal), pictures };
}

/** What the thread does. @throws ServingError (4xx) */
export async function answerBody({
  kind,
  body,
  context,
}: BodyTask): Promise<Answer<HandedRequest>> {
  const codec: RequestCodec = CODECS[kind];
  try {
    const { pictures = [], ...request }: ReadRequest = codec.read
      ? await codec.read(body, context)
      : await codec.decode(body, context);
    const { tensors: inputs, moved } = handedOver(request.inputs);
    const all = pictures.map(({ input, images }) => {
      const handed = handedOver({ images: stringTensor([images.length], images) });
      return { picture: { input, images: handed.tensors }, moved: handed.moved };
    });
    return {
      result: { ...request, inputs, pictures: all.map(({ picture }) => picture) },
      moved: [...moved, ...all.flatMap((handed) => handed.moved)],
    };
  } catch (error) {
    throw inputError(error);
  }
}
