/** Height, width, channels and layout of pictures, from the declaration and the input's shape. */
import type { TensorSpec } from '@sagemaker-tfs/tensors';
import type { Problem } from './errors.ts';
import type { Preprocess } from './image-declaration.ts';
import type { PixelsInput } from './resolved-preprocess.ts';

/** Where the pixels of a picture go in the tensor. */
type Geometry = Pick<
  PixelsInput,
  'height' | 'width' | 'channels' | 'layout' | 'channelDimension' | 'batchDimension'
>;

/** Undefined, with a problem reported, if the input is not a batch of pictures. */
export function resolveGeometry(
  declared: Preprocess,
  input: string,
  spec: TensorSpec,
  problems: Problem[],
): Geometry | undefined {
  const whole = spec.shape ?? [-1, -1, -1, -1];
  const isOne = isOnePicture(whole);
  if ((whole.length !== 3 && whole.length !== 4) || isUnclear(whole, declared)) {
    const sizes = whole.map((size, at) => (size >= 0 ? size : at === 0 ? 'N' : '?')).join(', ');
    const message = `input '${input}' has shape [${sizes}], which is neither a batch of pictures ([N,H,W,C], [N,C,H,W] or [N,H,W]) nor one picture ([H,W,C]). Write a handler.`;
    problems.push({ field: 'preprocess.input', message });
    return undefined;
  }
  const shape = isOne ? [1, ...whole] : whole;
  const channelDimension = shape.length === 4;
  const layout = declared.layout ?? guessLayout(shape);
  const [h, w, c] = layout === 'NHWC' ? [1, 2, 3] : [2, 3, 1];
  const size = channelDimension ? [shape[h], shape[w]] : [shape[1], shape[2]];
  const channelCount = channelDimension ? (shape[c] as number) : 1;
  return {
    height: resolveSize(declared, 0, size[0] as number, input, problems),
    width: resolveSize(declared, 1, size[1] as number, input, problems),
    channels: resolveChannels(declared, channelCount, input, problems),
    layout,
    channelDimension,
    batchDimension: !isOne,
  };
}

const isChannels = (size: number | undefined) => size === 1 || size === 3 || size === 4;

/** [H,W,C]: no picture is 1, 3 or 4 pixels wide. */
function isOnePicture(shape: readonly number[]): boolean {
  return shape.length === 3 && isChannels(shape[2]);
}

/** [3,H,W] and [4,H,W] may be channels first, or a batch of 3 or 4 gray pictures: `channels: gray` says so. */
function isUnclear(shape: readonly number[], { channels }: Preprocess): boolean {
  const [first] = shape;
  const isNoBatch = first === 3 || first === 4;
  return shape.length === 3 && isNoBatch && !isOnePicture(shape) && channels !== 'gray';
}

/** The channels are where the size is 1, 3 or 4; last where the shape does not tell. */
function guessLayout(shape: readonly number[]): 'NHWC' | 'NCHW' {
  return shape.length === 4 && isChannels(shape[1]) && !isChannels(shape[3]) ? 'NCHW' : 'NHWC';
}

function resolveSize(
  { size }: Preprocess,
  axis: 0 | 1,
  fixed: number,
  input: string,
  problems: Problem[],
): number | undefined {
  const declared = size?.[axis];
  if (fixed < 0) return declared;
  if (declared !== undefined && declared !== fixed) {
    const side = axis === 0 ? 'height' : 'width';
    const message = `${side} ${declared} does not fit input '${input}', whose ${side} is ${fixed}. Remove size or set it to the model's.`;
    problems.push({ field: 'preprocess.size', message });
  }
  return fixed;
}

function resolveChannels(
  { channels }: Preprocess,
  count: number,
  input: string,
  problems: Problem[],
): 'rgb' | 'bgr' | 'gray' {
  const field = 'preprocess.channels';
  if (count >= 0 && count !== 1 && count !== 3) {
    const message = `input '${input}' has ${count} channels; pictures give 1 (gray) or 3 (rgb, bgr). If the layout is read wrongly, declare layout; else write a handler.`;
    problems.push({ field, message });
    return channels ?? 'rgb';
  }
  const fitting = channels === 'gray' ? 1 : 3;
  if (channels !== undefined && count >= 0 && fitting !== count) {
    const message = `'${channels}' has ${fitting} channel${fitting === 1 ? '' : 's'}, but input '${input}' has ${count}.`;
    problems.push({ field, message });
  }
  return channels ?? (count === 1 ? 'gray' : 'rgb');
}
