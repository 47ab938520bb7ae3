/**
 * What a detector should answer that took its best anchors in another order than the golden's. Anchors of a plain
 * surface have equal scores to the last digit: `top_k` on a CPU takes the first of them, and on a GPU, which sums in
 * another order, any can be ahead, or get the last place. Which anchors it took is therefore taken from the answer, and
 * everything else from the golden's raw outputs at those anchors. The scores stay the golden's: a worse anchor shows.
 */
import {
  isNumeric,
  type NumericTensor,
  numericTensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';

/** @returns the golden itself for all but detectors, and for answers that name an anchor twice, or none there is */
export function withTheirAnchors(golden: TensorMap, actual: TensorMap): TensorMap {
  const anchors = numbers(actual, 'detection_anchor_indices');
  const boxes = numbers(golden, 'raw_detection_boxes');
  const logits = numbers(golden, 'raw_detection_scores');
  if (!anchors || !boxes || !logits) return golden;
  const count = boxes.length / SIDES;
  const classes = logits.length / count;
  const isOne = (anchor: number) => Number.isInteger(anchor) && anchor >= 0 && anchor < count;
  if (new Set(anchors).size < anchors.length || !anchors.every(isOne)) return golden;
  const rows = anchors.map((anchor) => ({
    box: boxes.slice(anchor * SIDES, (anchor + 1) * SIDES),
    scores: logits.slice(anchor * classes, (anchor + 1) * classes).map(sigmoid),
  }));
  const expected = {
    detection_anchor_indices: anchors,
    detection_boxes: rows.flatMap(({ box }) => box.map((side) => Math.min(1, Math.max(0, side)))),
    detection_multiclass_scores: rows.flatMap(({ scores }) => scores),
    detection_classes: rows.map(({ scores }) => scores.indexOf(Math.max(...scores)) + 1),
  };
  const replaced = Object.entries(expected).flatMap(([name, values]) => {
    const { [name]: tensor } = golden;
    return tensor && isNumeric(tensor) ? [[name, floats(tensor, values)]] : [];
  });
  return { ...golden, ...Object.fromEntries(replaced) };
}

const SIDES = 4;

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function numbers(tensors: TensorMap, name: string): number[] | undefined {
  const tensor = tensors[name];
  return tensor && isNumeric(tensor) ? Array.from(toNumbers(tensor), Number) : undefined;
}

function floats({ shape }: NumericTensor, values: readonly number[]): NumericTensor {
  return numericTensor('float32', shape, new Uint8Array(Float32Array.from(values).buffer));
}
