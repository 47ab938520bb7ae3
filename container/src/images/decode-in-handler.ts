/** Pictures that a handler decodes: they keep other requests waiting no more than those that the runtime decodes. */
import { type PixelsInput, PREPROCESS_DEFAULTS } from '@sagemaker-tfs/manifest';
import { nextTurn } from '../waiting/next-turn.ts';
import { decodeImage } from './decode-image.ts';
import { type DecodeImageOptions, limitsOf, roomForPixels } from './decode-options.ts';
import { decodeInThread, imagePool } from './image-pool.ts';
import { isLargePicture } from './image-tasks.ts';
import type { Pixels } from './resample.ts';

/** {@link decodeImage}: a large picture in a thread, small ones of a loop or a `Promise.all` a turn each. */
export async function decodeInHandler(
  bytes: Uint8Array,
  options: DecodeImageOptions = {},
  out?: Uint8Array,
): Promise<Pixels> {
  await nextTurn();
  options.signal?.throwIfAborted();
  const pool = isLargePicture(bytes) ? imagePool() : undefined;
  if (!pool) return decodeImage(bytes, options, out);
  const room = roomForPixels(options, out);
  const task = { bytes, input: pixelsOf(options), limits: limitsOf(options) };
  const { bytes: pixels, width, height } = await decodeInThread(pool, task, options.signal);
  room?.set(pixels);
  const channels = options.channels === 'gray' ? 1 : 3;
  return { data: room ?? pixels, width, height, channels };
}

/** An input that takes the pixels as they are. */
function pixelsOf(options: DecodeImageOptions): PixelsInput {
  const defaults = PREPROCESS_DEFAULTS;
  return {
    bytes: false,
    input: '',
    dtype: 'uint8',
    width: options.width,
    height: options.height,
    channels: options.channels ?? 'rgb',
    layout: 'NHWC',
    channelDimension: true,
    batchDimension: false,
    resize: options.resize ?? defaults.resize,
    interpolation: options.interpolation ?? defaults.interpolation,
    antialias: options.antialias ?? defaults.antialias,
    shrink: options.shrink ?? defaults.shrink,
    padding: options.padding ?? defaults.padding,
    scale: [1, 1, 1],
    offset: [0, 0, 0],
  };
}
