/** Detections at or above a threshold, from the tensors of a detection model. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import {
  cast,
  describe,
  isNumeric,
  numericTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import type { FrameInPicture } from '@sagemaker-tfs/tensors/placement';
import { ServingError } from '../errors.ts';
import { eachInTurns, indices } from '../waiting/in-turns.ts';
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
interface DetectionContext {
  readonly labels?: readonly string[] | undefined;
  /** How the model saw each picture. */
  readonly frames?: readonly FrameInPicture[] | undefined;
}

type BoxesDeclaration = NonNullable<Postprocess['boxes']>;

/**
 * The detections of each image with a score of at least the threshold, best first.
 * @returns one list an image
 * @throws ServingError MODEL_FAILED if shapes disagree
 */
export async function detections(
  outputs: TensorMap,
  declaration: BoxesDeclaration,
  { labels, frames }: DetectionContext = {},
): Promise<Detection[][]> {
  const boxes = numbersOf(outputs, declaration.boxes);
  const scores = numbersOf(outputs, declaration.scores);
  const classes = numbersOf(outputs, declaration.classes);
  const [images = 0, perImage = 0] = scores.shape;
  const count = images * perImage;
  const isFitting =
    scores.shape.length === 2 && boxes.count === 4 * count && classes.count === count;
  if (!isFitting) {
    throw new ServingError(
      'MODEL_FAILED',
      `boxes [${boxes.shape.join(', ')}], scores [${scores.shape.join(', ')}] and classes [${classes.shape.join(', ')}] are not [N, boxes, 4], [N, boxes] and [N, boxes].`,
    );
  }
  const detectionAt = (at: number, frame: FrameInPicture | undefined): Detection => {
    const box = [0, 1, 2, 3].map((edge) => boxes.at(at * 4 + edge));
    const index = classes.at(at);
    if (!Number.isFinite(index)) {
      throw new ServingError('MODEL_FAILED', `detection ${at} has the class ${index}`);
    }
    return {
      box: (frame ? inPicture(box, frame) : box).map(shortest),
      score: shortest(scores.at(at)),
      class: index,
      ...(labels && { label: labelOf(labels, index) }),
    };
  };
  const threshold = scores.rounded(declaration.threshold);
  const lists: Detection[][] = [];
  const bestOf = (image: number): number[] =>
    Array.from({ length: perImage }, (_, at) => image * perImage + at)
      .filter((at) => scores.at(at) >= threshold)
      .sort((a, b) => scores.at(b) - scores.at(a))
      .slice(0, declaration.limit);
  /** An image's scores, then each of its detections. */
  function* steps(): Generator<number | 'scores'> {
    for (const image of indices(images)) {
      lists.push([]);
      yield 'scores';
      yield* bestOf(image);
    }
  }
  const add = (at: number | 'scores'): void => {
    const image = lists.length - 1;
    if (at !== 'scores') lists[image]?.push(detectionAt(at, frames?.[image]));
  };
  const weight = (at: number | 'scores') =>
    at === 'scores' ? perImage * SCORE_BYTES : DETECTION_BYTES;
  await eachInTurns(steps(), add, { bytesOf: weight });
  return lists;
}

/**
 * The same as tensors, for media types without lists of different lengths: `boxes` [D,4], `scores` [D],
 * `classes` [D], `images` [D] (index of the image), and `labels` [D] where there are labels.
 */
export async function detectionTensors(
  images: readonly (readonly Detection[])[],
  hasLabels: boolean,
): Promise<TensorMap> {
  const count = images.reduce((sum, list) => sum + list.length, 0);
  const all = {
    images: new BigInt64Array(count),
    classes: new BigInt64Array(count),
    scores: new Float32Array(count),
    boxes: new Float32Array(count * 4),
  };
  const labels: string[] = [];
  let at = 0;
  const add = (list: readonly Detection[], image: number): void => {
    for (const { box, score, class: index, label = '' } of list) {
      all.images[at] = BigInt(image);
      all.classes[at] = BigInt(Math.trunc(index));
      all.scores[at] = score;
      all.boxes.set(box, at * 4);
      if (hasLabels) labels.push(label);
      at += 1;
    }
  };
  await eachInTurns(images, add, { bytesOf: ({ length }) => length * SCORE_BYTES });
  return {
    images: numericTensor('int64', [count], all.images),
    classes: numericTensor('int64', [count], all.classes),
    scores: numericTensor('float32', [count], all.scores),
    boxes: numericTensor('float32', [count, 4], all.boxes),
    ...(hasLabels && { labels: stringTensor([count], labels) }),
  };
}

/** What a score that is looked at, and a detection that is kept, cost: in bytes that would be copied. */
const SCORE_BYTES = 64;
const DETECTION_BYTES = 1024;

/** The elements of an output, read where they lie. */
interface Numbers {
  readonly shape: readonly number[];
  readonly count: number;
  at(index: number): number;
  /** The number as the output's floats hold it: 0.9 is more than the float32 that is written so. */
  rounded(value: number): number;
}

function numbersOf(outputs: TensorMap, name: string): Numbers {
  const tensor = outputs[name] as Tensor;
  if (!isNumeric(tensor)) {
    throw new ServingError('MODEL_FAILED', `output '${name}' is ${describe(tensor)}, not numbers.`);
  }
  const values = toNumbers(tensor);
  const rounded = (value: number): number => {
    if (!tensor.dtype.includes('float')) return value;
    const exact = numericTensor('float64', [1], Float64Array.of(value));
    return Number(toNumbers(cast(exact, tensor.dtype))[0]);
  };
  const at = (index: number) => Number(values[index]);
  return { shape: tensor.shape, count: values.length, at, rounded };
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
