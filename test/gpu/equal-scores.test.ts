/** The rule for equal scores, on what Python answered: another order is right, a wrong row is not. */
import { numericTensor, type TensorMap, toNumbers, typedArray } from '@sagemaker-tfs/tensors';
import { firstDifference } from '../fixtures/compare.ts';
import { fixtureModel, loadGoldens } from '../fixtures/index.ts';
import { withTheirAnchors } from './equal-scores.ts';

const golden = loadGoldens(fixtureModel('detection'))[0]?.cases[0]?.outputs as TensorMap;
const NEAR = 1e-5;

/** The golden's answer with the rows of two anchors exchanged, in the outputs named. */
function exchanged(one: number, other: number, outputs: readonly string[]): TensorMap {
  const changed = outputs.map((name) => {
    const tensor = golden[name];
    if (tensor?.dtype !== 'float32') throw new Error(name);
    const values = Array.from(toNumbers(tensor), Number);
    const width = values.length / 100;
    const row = (at: number) => values.slice(at * width, (at + 1) * width);
    const rows = Array.from({ length: 100 }, (_, at) =>
      row(at === one ? other : at === other ? one : at),
    );
    const copy = numericTensor('float32', tensor.shape, new Uint8Array(tensor.bytes.length));
    typedArray(copy).set(rows.flat() as never);
    return [name, copy];
  });
  return { ...golden, ...Object.fromEntries(changed) };
}

const difference = (actual: TensorMap) =>
  firstDifference(actual, withTheirAnchors(golden, actual), NEAR);
const ROWS = [
  'detection_anchor_indices',
  'detection_boxes',
  'detection_classes',
  'detection_multiclass_scores',
];

test('anchors with equal scores may come in any order, each with its own box', () => {
  expect(difference(golden)).toBeUndefined();
  // As an H200 answered without TF32: anchor 92 before anchor 38.
  expect(difference(exchanged(1, 2, ROWS))).toBeUndefined();
  expect(difference(exchanged(1, 2, ['detection_anchor_indices']))).toMatch(/detection_boxes/);
  expect(difference(exchanged(1, 2, ['detection_boxes']))).toMatch(/detection_boxes/);
});

test('scores stay where they are, and other models are compared as they are', () => {
  expect(difference(exchanged(0, 99, ['detection_scores']))).toMatch(/detection_scores/);
  const { detection_anchor_indices: _, ...others } = golden;
  expect(withTheirAnchors(others, others)).toBe(others);
});
