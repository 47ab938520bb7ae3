/** Detections, wherever an answer holds some, in the picture's own coordinates. */
import type { TypedTensor } from '@sagemaker-tfs/client';
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import { frameInPicture } from '@sagemaker-tfs/tensors/placement';
import type { PictureInput } from '../description.ts';
import { byScore } from './classes.ts';

/** One detection. */
export interface Box {
  /** Shares of the picture's height and width: 0 is its top or left edge, 1 its bottom or right edge. */
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly score: number;
  readonly name: string;
}

/**
 * Boxes as `postprocess` answers them: `{"predictions": [[{"box", "score", "class", "label"}]]}`, or `outputs` in place of
 * `predictions` where the request was of tensors.
 */
export function boxesOfJson(answer: unknown): Box[] | undefined {
  const { predictions, outputs } = (answer ?? {}) as { predictions?: unknown; outputs?: unknown };
  const rows = predictions ?? outputs;
  const first = Array.isArray(rows) ? rows[0] : undefined;
  if (!Array.isArray(first)) return undefined;
  const found = first.flatMap((entry) => boxOf(entry as JsonBox | null));
  return found.length === first.length ? found : undefined;
}

interface JsonBox {
  readonly box?: unknown;
  readonly score?: unknown;
  readonly class?: unknown;
  readonly label?: unknown;
}

function boxOf(entry: JsonBox | null): Box[] {
  if (!entry || !Array.isArray(entry.box) || entry.box.length !== 4) return [];
  const [top, left, bottom, right] = entry.box.map(Number) as [number, number, number, number];
  const name = typeof entry.label === 'string' ? entry.label : `class ${String(entry.class)}`;
  return [{ top, left, bottom, right, score: Number(entry.score), name }];
}

/** Boxes among a model's own outputs, which are those of the picture as the model saw it. */
export function boxesOfTensors(
  tensors: Readonly<Record<string, TypedTensor>>,
  labels: readonly string[],
): Box[] | undefined {
  const boxes = named(tensors, /box/i, 3);
  const scores = named(tensors, /score/i, 2);
  const classes = named(tensors, /class/i, 2);
  const count = boxes?.shape[1] ?? 0;
  if (boxes?.shape[2] !== 4 || scores?.shape[1] !== count) return undefined;
  const number = ({ data }: TypedTensor, at: number) => Number(data[at]);
  return Array.from({ length: count }, (_, at) => {
    const index = classes?.shape[1] === count ? number(classes, at) : 0;
    return {
      top: number(boxes, at * 4),
      left: number(boxes, at * 4 + 1),
      bottom: number(boxes, at * 4 + 2),
      right: number(boxes, at * 4 + 3),
      score: number(scores, at),
      name: labels[index] || `class ${index}`,
    };
  }).sort(byScore);
}

/** `detection_boxes` before `raw_detection_boxes`: the shortest name. */
function named(
  tensors: Readonly<Record<string, TypedTensor>>,
  pattern: RegExp,
  rank: number,
): TypedTensor | undefined {
  return Object.entries(tensors)
    .filter(
      ([name, { shape, dtype }]) =>
        pattern.test(name) && shape.length === rank && dtype !== 'string',
    )
    .sort(([a], [b]) => a.length - b.length)[0]?.[1];
}

/** A box of the model's frame as a box of the picture, as the runtime fitted it. */
export function inPicture(box: Box, picture: Size, frame: PictureInput): Box {
  const { width, height, resize } = frame;
  if (!width || !height) return box;
  const seen = frameInPicture(picture, { width, height }, resize);
  const across = (x: number) => seen.left + x * seen.width;
  const down = (y: number) => seen.top + y * seen.height;
  return {
    ...box,
    top: down(box.top),
    bottom: down(box.bottom),
    left: across(box.left),
    right: across(box.right),
  };
}

/** Index of the smallest box at a point, given as shares of the picture, or -1: a small box may lie in a large one. */
export function boxAt(boxes: readonly Box[], x: number, y: number): number {
  const area = ({ top, left, bottom, right }: Box) => (bottom - top) * (right - left);
  const [smallest] = [...boxes.entries()]
    .filter(([, b]) => x >= b.left && x <= b.right && y >= b.top && y <= b.bottom)
    .sort(([, a], [, b]) => area(a) - area(b));
  return smallest?.[0] ?? -1;
}
