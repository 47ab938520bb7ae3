import type { DType, Signature } from '@sagemaker-tfs/tensors';
import { type PostprocessInput, parsePostprocess } from './index.ts';
import { checkPostprocess, topKOutput } from './postprocess.ts';

function signature(outputs: Record<string, [DType, number[]]>): Signature {
  const specs = Object.entries(outputs).map(([name, [dtype, shape]]) => [
    name,
    { tensorName: `${name}:0`, dtypeEnum: 0, dtype, shape },
  ]);
  return { key: 'serving_default', methodName: '', inputs: {}, outputs: Object.fromEntries(specs) };
}

const classifier = signature({ logits: ['float32', [-1, 1000]], label: ['string', [-1]] });
const detector = signature({
  detection_boxes: ['float32', [1, 100, 4]],
  detection_scores: ['float32', [1, 100]],
  detection_classes: ['float32', [1, 100]],
});

const fieldsOf = (declared: PostprocessInput, of: Signature) =>
  checkPostprocess(parsePostprocess(declared), of).map(({ field }) => field);

test('declarations that fit have no problems', () => {
  expect(fieldsOf({}, classifier)).toEqual([]);
  const declared = { softmax: 'logits', topK: { output: 'logits', labels: 'labels.txt' } };
  expect(fieldsOf(declared, classifier)).toEqual([]);
  expect(fieldsOf({ outputs: ['logits'], rename: { logits: 'scores' } }, classifier)).toEqual([]);
  expect(fieldsOf({ boxes: {} }, detector)).toEqual([]);
});

test('topK reads the only output that is kept', () => {
  const only = parsePostprocess({ outputs: ['logits'], topK: {} });
  expect(topKOutput(only, classifier)).toBe('logits');
  expect(topKOutput(parsePostprocess({ topK: {} }), classifier)).toBeUndefined();
});

test.each<[string, PostprocessInput, Signature, string]>([
  ['an output that is not there', { outputs: ['x'] }, classifier, 'postprocess.outputs.0'],
  ['an output twice', { outputs: ['logits', 'logits'] }, classifier, 'postprocess.outputs.1'],
  ['a new name for no output', { rename: { x: 'y' } }, classifier, 'postprocess.rename.x'],
  [
    'a new name for an output that is dropped',
    { outputs: ['logits'], rename: { label: 'y' } },
    classifier,
    'postprocess.rename.label',
  ],
  ['two outputs of one name', { rename: { label: 'logits' } }, classifier, 'postprocess.rename'],
  ['softmax of text', { softmax: 'label' }, classifier, 'postprocess.softmax'],
  ['topK without a name among several', { topK: {} }, classifier, 'postprocess.topK.output'],
  ['topK of a vector', { topK: { output: 'label' } }, classifier, 'postprocess.topK.output'],
  [
    'outputs kept beside boxes, which replace all',
    { boxes: {}, outputs: ['detection_boxes', 'detection_scores', 'detection_classes'] },
    detector,
    'postprocess.outputs',
  ],
  ['boxes that are not there', { boxes: { boxes: 'x' } }, detector, 'postprocess.boxes.boxes'],
  [
    'boxes of another shape',
    { boxes: { boxes: 'detection_scores' } },
    detector,
    'postprocess.boxes.boxes',
  ],
])('%s is reported by its field', (_, declared, of, field) => {
  expect(fieldsOf(declared, of)).toContain(field);
});
