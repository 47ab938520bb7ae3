/**
 * Warm-up requests: TensorFlow Serving runs them before it calls a version available, so that the first
 * real request is not the slow one. https://www.tensorflow.org/tfx/serving/saved_model_warmup
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { atMost, readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import {
  MAX_WARMUP_BYTES,
  MAX_WARMUP_RECORDS,
  WARMUP_PATH,
} from '@sagemaker-tfs/libtensorflow/warmup-file';
import {
  DEFAULT_SIGNATURE,
  decodePredictRequest,
  encodePredictRequest,
  encodeTfRecord,
  readTfRecords,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import {
  PredictionLogSchema,
  PredictRequestSchema,
  readMessage,
} from '@sagemaker-tfs/tensors/protos';
import { damaged, messageOf, PackagingError } from '../errors.ts';
import { memoryFile, type SourceFile } from '../files/archive-files.ts';
import { inOwnErrors } from '../files/own-errors.ts';
import { badSample, readSample, type SampleTarget } from '../samples/sample-file.ts';
import {
  isNoSynthetic,
  type NoSynthetic,
  syntheticInputs,
  takesExamples,
} from '../samples/synthetic.ts';

/** PredictionLog.predict_log and PredictLog.request (tensorflow_serving/apis/prediction_log.proto). */
const PREDICT_LOG = 6;
const REQUEST = 1;

/**
 * True: one synthetic request for each signature but those of tf.Example messages and those that write variables of the
 * model. Else paths of sample files.
 */
export type WarmupOption = true | readonly string[];

/** What the requests are for. */
interface WarmupTarget extends SampleTarget {
  /** Signatures whose run changes the model. */
  readonly writing: ReadonlySet<string>;
}

/** One call of a signature. */
interface WarmupRequest {
  readonly signature: string;
  readonly inputs: TensorMap;
}

/**
 * The warm-up file of one version. Pictures become what the runtime would make of them.
 * @throws PackagingError BAD_SAMPLE, SOURCE_NOT_FOUND, BAD_OPTION where nothing can be made up
 */
export async function warmupFile(
  option: WarmupOption,
  model: string,
  directory: string,
  target: WarmupTarget,
): Promise<SourceFile> {
  const requests =
    option === true ? syntheticRequests(model, target) : await sampleRequests(option, target);
  if (requests.length > MAX_WARMUP_RECORDS) {
    throw new PackagingError(
      'BAD_OPTION',
      `${requests.length} warm-up samples, and TensorFlow Serving takes ${MAX_WARMUP_RECORDS}. Give fewer.`,
    );
  }
  const records = requests.map((request) => predictionLog(model, request));
  return memoryFile(`${directory}/${WARMUP_PATH}`, Buffer.concat(records.flatMap(encodeTfRecord)));
}

/** @throws PackagingError BAD_OPTION with the reason for each signature, where none can be made up */
function syntheticRequests(model: string, { signatures, writing }: WarmupTarget): WarmupRequest[] {
  const requests: WarmupRequest[] = [];
  const reasons: string[] = [];
  for (const signature of Object.values(signatures)) {
    const { key } = signature;
    const inputs = writing.has(key) ? WRITES : madeUp(signature);
    if (isNoSynthetic(inputs)) reasons.push(`signature '${key}': ${inputs.reason}`);
    else requests.push({ signature: key, inputs });
  }
  if (requests.length > 0) return requests;
  throw new PackagingError(
    'BAD_OPTION',
    `no warm-up request can be made up for model '${model}' (${reasons.join('; ')}). Give samples, or leave the warm-up out.`,
  );
}

const WRITES: NoSynthetic = { reason: 'it writes variables of the model' };

function madeUp(signature: Signature): TensorMap | NoSynthetic {
  if (takesExamples(signature)) return { reason: 'it takes tf.Example messages' };
  // TensorFlow Serving takes an empty name for the default signature.
  if (signature.key === '') return { reason: 'a request cannot name it' };
  return syntheticInputs(signature);
}

async function sampleRequests(
  paths: readonly string[],
  target: SampleTarget,
): Promise<WarmupRequest[]> {
  const requests: WarmupRequest[] = [];
  for (const path of paths) {
    const { request, inputs } = await readSample(path, target);
    if (!inputs) {
      const form =
        request.contentType === 'application/json' ? 'JSON of this form' : request.contentType;
      throw badSample(
        path,
        `${form} is not tensors yet. For a warm-up, give TensorFlow Serving's JSON (instances or inputs), .npy, .npz or a picture`,
      );
    }
    requests.push({ signature: request.signature, inputs });
  }
  return requests;
}

function predictionLog(model: string, { signature, inputs }: WarmupRequest): Uint8Array {
  const request = Buffer.concat(
    encodePredictRequest({ model: { name: model }, signature, inputs }),
  );
  const predictLog = new BinaryWriter()
    .tag(REQUEST, WireType.LengthDelimited)
    .bytes(request)
    .finish();
  return new BinaryWriter().tag(PREDICT_LOG, WireType.LengthDelimited).bytes(predictLog).finish();
}

/**
 * The Predict requests in a version directory's warm-up file; none where there is no file.
 * @throws PackagingError CORRUPT_FILE or BAD_FILE_NAME naming the file
 */
export function readWarmup(directory: string): WarmupRequest[] {
  const path = join(directory, WARMUP_PATH);
  if (!existsSync(path)) return [];
  const file = inOwnErrors(path, () => readRegularFileSync(path, atMost(path, MAX_WARMUP_BYTES)));
  try {
    return [...readTfRecords(file)].flatMap((record) => {
      const { logType } = readMessage(PredictionLogSchema, record);
      const request = logType.case === 'predictLog' ? logType.value.request : undefined;
      if (!request) return [];
      const { signature, inputs } = decodePredictRequest(toBinary(PredictRequestSchema, request));
      return [{ signature: signature || DEFAULT_SIGNATURE, inputs }];
    });
  } catch (error) {
    throw damaged(path, messageOf(error), error);
  }
}
