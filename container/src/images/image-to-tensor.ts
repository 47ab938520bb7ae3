/** Encoded pictures to one batch tensor, as the package declares or the signature implies. */
import {
  ManifestError,
  type PixelsInput,
  type Preprocess,
  type ResolvedPreprocess,
  resolvePreprocess,
} from '@sagemaker-tfs/manifest';
import {
  type AbortSignalLike,
  DTYPES,
  numericTensor,
  type Signature,
  stringTensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { instanceShape } from '../models/instance-shape.ts';
import type { ImageElements, ImageTask } from './image-task.ts';
import { runImageBatch, runImageTasks } from './image-tasks.ts';
import type { PictureContext } from './picture-context.ts';

export { DEFAULT_DECODE_LIMITS, type DecodeLimits } from '../decode-limits.ts';

const NONE = {};
/** Decided once for each signature and declaration, since deciding costs more than a small picture's copy. */
const resolved = new WeakMap<Signature, WeakMap<object, ResolvedPreprocess>>();

/**
 * How this signature takes pictures.
 * @throws ServingError UNSUPPORTED_MEDIA_TYPE if it takes none
 */
export function imageInput(
  signature: Signature,
  preprocess: Preprocess | undefined,
): ResolvedPreprocess {
  const known = resolved.get(signature)?.get(preprocess ?? NONE);
  if (known) return known;
  try {
    const input = resolvePreprocess(preprocess, signature);
    const bySignature = resolved.get(signature) ?? new WeakMap();
    resolved.set(signature, bySignature.set(preprocess ?? NONE, input));
    return input;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new ServingError(
      'UNSUPPORTED_MEDIA_TYPE',
      `signature '${signature.key}' cannot be fed with images: ${reasonOf(error, signature, preprocess)}`,
      { cause: error },
    );
  }
}

/** Who has declared nothing has no fields to look at. */
function reasonOf(
  { message }: ManifestError,
  { inputs }: Signature,
  preprocess: Preprocess | undefined,
): string {
  if (preprocess) return message;
  const reasons = message.replace(/^preprocess\.\w+: /gm, '');
  const tensors =
    Object.keys(inputs).length > 1
      ? 'JSON or application/x-npz, which name inputs'
      : 'JSON, application/x-npy, application/x-npz';
  return `${reasons} This archive declares no preprocess, which says how pictures become inputs. Without it send tensors (${tensors}).`;
}

/**
 * One batch of all pictures: for a DT_STRING input ([N], [N,1], or [] for one) their bytes as they are, else pixels in
 * [N,H,W,C], [N,C,H,W] or [N,H,W], or in [H,W,C] for one picture.
 * @param name what messages call a picture, by its index
 * @throws ServingError 4xx naming the picture
 */
export async function imagesToTensors(
  images: readonly Uint8Array[],
  context: PictureContext,
  name: (index: number) => string = (index) => `image ${index}`,
): Promise<TensorMap> {
  const { signature, preprocess } = context;
  const input = imageInput(signature, preprocess);
  if (input.bytes) {
    const { shape } = signature.inputs[input.input] ?? {};
    const words = { rows: 'images', values: 'value' };
    const batch = instanceShape(input.input, shape, images.length, 1, words);
    return { [input.input]: stringTensor(batch, images) };
  }
  checkBatch(images.length, signature, input);
  const rows = await decodeRows(images, input, context, name);
  const batch = input.batchDimension ? [images.length] : [];
  const shape = [...batch, ...rowShape(rows, input)];
  return { [input.input]: numericTensor(input.dtype, shape, rows.bytes) };
}

/** Rows of a batch, or columns where the input is one picture without a dimension for the batch. */
export function formOfImages({ signature, preprocess }: PictureContext): 'row' | 'columnar' {
  const input = imageInput(signature, preprocess);
  const { shape } = signature.inputs[input.input] ?? {};
  const isBatch = input.bytes ? shape?.length !== 0 : input.batchDimension;
  return isBatch ? 'row' : 'columnar';
}

/** Refuses another number of pictures than the fixed batch size, which is 1 if the input has no batch dimension. */
function checkBatch(
  count: number,
  { inputs, key }: Signature,
  { input, batchDimension }: PixelsInput,
): void {
  const fixed = batchDimension ? (inputs[input]?.shape?.[0] ?? -1) : 1;
  if (fixed < 0 || fixed === count) return;
  throw new ServingError(
    'BAD_INPUT',
    `input '${input}' of signature '${key}' takes exactly ${fixed} image${fixed === 1 ? '' : 's'} a request, got ${count}`,
  );
}

function rowShape({ width, height }: ImageElements, input: PixelsInput): number[] {
  if (!input.channelDimension) return [height, width];
  const channels = input.channels === 'gray' ? 1 : 3;
  return input.layout === 'NHWC' ? [height, width, channels] : [channels, height, width];
}

interface Size {
  readonly width: number;
  readonly height: number;
}

async function decodeRows(
  images: readonly Uint8Array[],
  input: PixelsInput,
  { limits, signal }: PictureContext,
  name: (index: number) => string,
): Promise<ImageElements> {
  const { width, height } = input;
  const tasks = images.map((bytes): ImageTask => ({ bytes, input, limits }));
  if (width === undefined || height === undefined) {
    return decodeOwnSizes(tasks, limits, name, signal);
  }
  const rowBytes = width * height * bytesPerPixel(input);
  checkTotal(rowBytes * images.length, limits.maxDecodedBytes);
  const bytes = await runImageBatch(tasks, rowBytes, { name, signal });
  return { bytes, width, height };
}

/** The model takes any size: the first picture's, which the others of the batch must share. */
async function decodeOwnSizes(
  tasks: readonly ImageTask[],
  { maxDecodedBytes, maxOpenSizeBytes }: DecodeLimits,
  name: (index: number) => string,
  signal: AbortSignalLike | undefined,
): Promise<ImageElements> {
  const maxBytes = Math.min(maxDecodedBytes, maxOpenSizeBytes);
  const pixelSetting =
    maxOpenSizeBytes < maxDecodedBytes
      ? 'a quarter of SAGEMAKER_TFS_MAX_HELD_BYTES'
      : 'SAGEMAKER_TFS_MAX_DECODED_BYTES';
  const bounded = tasks.map((task): ImageTask => {
    const { input, limits } = task;
    const room = Math.floor(maxBytes / bytesPerPixel(input));
    if (room >= limits.maxImagePixels) return task;
    return { ...task, limits: { ...limits, maxImagePixels: room, pixelSetting } };
  });
  const firsts = await runImageTasks(bounded.slice(0, 1), { name, signal });
  const first = firsts[0] as ImageElements;
  checkTotal(first.bytes.byteLength * tasks.length, maxBytes);
  const rest = await runImageTasks(bounded.slice(1), { name: (index) => name(index + 1), signal });
  for (const [index, picture] of rest.entries()) checkSize(picture, first, name(index + 1));
  if (rest.length === 0) return first;
  return { ...first, bytes: Buffer.concat([first, ...rest].map(({ bytes }) => bytes)) };
}

function bytesPerPixel({ channels, dtype }: PixelsInput): number {
  return (channels === 'gray' ? 1 : 3) * DTYPES[dtype].size;
}

function checkTotal(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new ServingError(
    'REQUEST_TOO_LARGE',
    `the images need ${bytes} bytes as a tensor. At most ${limit} are decoded in a request. Send fewer at a time.`,
  );
}

function checkSize(picture: Size, first: Size, name: string): void {
  if (picture.width === first.width && picture.height === first.height) return;
  throw new ServingError(
    'BAD_INPUT',
    `${name} is ${picture.width} x ${picture.height}, the first is ${first.width} x ${first.height}: images of one request must be of one size, since the model takes any. Declare preprocess.size, or send them one by one.`,
  );
}
