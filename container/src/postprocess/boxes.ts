/** Detections above a threshold, from the tensors of a detection model. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import {
  describe,
  isNumeric,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromValues,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import type { FrameInPicture } from '../images/frame.ts';
import { labelOf } from './labels.ts';

/** One detection as JSON shows it. */
export interface Detection {
  /**
   * [top, left, bottom, right] in 0-1 as TensorFlow's detection models give them: of the picture, where one was sent
   * and fitted into the model's frame, else of what the model saw.
   */
  readonly box: readonly number[];
  readonly score: number;
  readonly class: number;
  readonly label?: string;
}

/** What detections are made of besides tensors and declaration. */
export interface DetectionContext {
  readonly labels?: readonly string[] | undefined;
  /** How the model saw each picture. */
  readonly frames?: readonly FrameInPicture[] | undefined;
}

type BoxesDeclaration = NonNullable<Postprocess['boxes']>;

/**
 * The detections of each image with a score of at least the threshold, best first.
 * @returns one list an image
 * @throws ServingError MODEL_FAILED where shapes disagree
 */
export function detections(
  outputs: TensorMap,
  declaration: BoxesDeclaration,
  { labels, frames }: DetectionContext = {},
): Detection[][] {
  const boxes = floatsOf(outputs, declaration.boxes);
  const scores = floatsOf(outputs, declaration.scores);
  const classes = floatsOf(outputs, declaration.classes);
  const [images = 0, perImage = 0] = scores.shape;
  const count = images * perImage;
  const isFitting =
    scores.shape.length === 2 &&
    boxes.values.length === 4 * count &&
    classes.values.length === count;
  if (!isFitting) {
    throw new ServingError(
      'MODEL_FAILED',
      `boxes [${boxes.shape.join(', ')}], scores [${scores.shape.join(', ')}] and classes [${classes.shape.join(', ')}] are not [N, boxes, 4], [N, boxes] and [N, boxes]`,
    );
  }
  const detectionAt = (at: number, frame: FrameInPicture | undefined): Detection => {
    const box = boxes.values.slice(at * 4, at * 4 + 4);
    const index = classes.values[at] as number;
    return {
      box: (frame ? inPicture(box, frame) : box).map(shortest),
      score: shortest(scores.values[at] as number),
      class: index,
      ...(labels && { label: labelOf(labels, index) }),
    };
  };
  return Array.from({ length: images }, (_, image) =>
    Array.from({ length: perImage }, (_, at) => image * perImage + at)
      .filter((at) => (scores.values[at] as number) >= declaration.threshold)
      .sort((a, b) => (scores.values[b] as number) - (scores.values[a] as number))
      .slice(0, declaration.limit)
      .map((at) => detectionAt(at, frames?.[image])),
  );
}

/**
 * The same as tensors, for media types without lists of different lengths: `boxes` [D,4], `scores` [D],
 * `classes` [D], `images` [D] (index of the image), and `labels` [D] where there are labels.
 */
export function detectionTensors(
  images: readonly (readonly Detection[])[],
  hasLabels: boolean,
): TensorMap {
  const all = images.flatMap((list, image) => list.map((detection) => ({ ...detection, image })));
  const shape = [all.length];
  return {
    images: tensorFromValues(
      'int64',
      shape,
      all.map(({ image }) => image),
    ),
    classes: tensorFromValues(
      'int64',
      shape,
      all.map((detection) => Math.trunc(detection.class)),
    ),
    scores: tensorFromValues(
      'float32',
      shape,
      all.map(({ score }) => score),
    ),
    boxes: tensorFromValues(
      'float32',
      [all.length, 4],
      all.flatMap(({ box }) => box),
    ),
    ...(hasLabels && {
      labels: stringTensor(
        shape,
        all.map(({ label }) => label ?? ''),
      ),
    }),
  };
}

function floatsOf(
  outputs: TensorMap,
  name: string,
): { shape: readonly number[]; values: number[] } {
  const tensor = outputs[name] as Tensor;
  if (!isNumeric(tensor)) {
    throw new ServingError('MODEL_FAILED', `output '${name}' is ${describe(tensor)}, not numbers`);
  }
  return { shape: tensor.shape, values: Array.from(toNumbers(tensor), Number) };
}

/** A box of the frame as a box of the picture; what reaches into the bars of a letterbox ends below 0 or above 1. */
function inPicture(box: readonly number[], { top, left, height, width }: FrameInPicture): number[] {
  return box.map((edge, at) => (at % 2 === 0 ? top + edge * height : left + edge * width));
}

/** The float32 as the number with the fewest digits that is nearest to it: 0.1, not 0.10000000149011612. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === Math.fround(value)) return rounded;
  }
  return value;
}
