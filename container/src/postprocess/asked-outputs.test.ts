import { postprocessSchema } from '@sagemaker-tfs/manifest';
import {
  answeredNames,
  isAnswered,
  ownNames,
  replacedByBoxes,
  usualOutputs,
} from './asked-outputs.ts';

const spec = { tensorName: 't:0', dtype: 'float32', dtypeEnum: 1, shape: [-1] } as const;
const signature = { outputs: { a: spec, b: spec, c: spec } };

test.each<[string, object | undefined, string[]]>([
  ['nothing declared', undefined, ['a', 'b', 'c']],
  ['outputs, in their order', { outputs: ['c', 'a'] }, ['c', 'a']],
  ['renamed ones', { outputs: ['a', 'b'], rename: { a: 'first' } }, ['first', 'b']],
  ['outputs of another signature', { outputs: ['x'] }, []],
])('what answers show: %s', (_what, declaration, names) => {
  const postprocess = declaration && postprocessSchema.parse(declaration);
  expect(answeredNames(signature, postprocess)).toEqual(names);
  for (const name of ownNames(names, signature, postprocess)) {
    expect(isAnswered(name, signature, postprocess)).toBe(true);
  }
  expect([...usualOutputs(signature, postprocess).keys()]).toEqual(names);
});

test('a name that answers show comes before the same name of the signature', () => {
  const swapped = postprocessSchema.parse({ rename: { a: 'b', b: 'a', c: 'd' } });
  expect(ownNames(['a', 'b', 'c', 'd', 'constructor'], signature, swapped)).toEqual([
    ...['b', 'a', 'c', 'c', 'constructor'],
  ]);
  const takesItsPlace = postprocessSchema.parse({ outputs: ['a'], rename: { a: 'b' } });
  expect(ownNames(['b'], signature, takesItsPlace)).toEqual(['a']);
  expect(isAnswered('b', signature, takesItsPlace)).toBe(false);
});

describe('detections', () => {
  const of = (boxes: string, scores: string, classes: string) =>
    postprocessSchema.parse({ boxes: { boxes, scores, classes } });

  test('only the outputs that they are made of are answered unless others are named', () => {
    const usual = (boxes: ReturnType<typeof of>) => [...usualOutputs(signature, boxes).values()];
    expect(usual(of('c', 'a', 'a'))).toEqual(['a', 'c']);
    // Of a signature that lacks one of them no detections are made.
    expect(usual(of('c', 'a', 'x'))).toEqual(['a', 'b', 'c']);
  });

  test('nothing else is answered beside all of them', () => {
    const boxes = of('a', 'b', 'b');
    expect(replacedByBoxes(['b', 'a'], boxes)).toBeUndefined();
    expect(replacedByBoxes(['b', 'c'], boxes)).toBeUndefined();
    expect(replacedByBoxes(['b', 'c', 'a'], boxes)).toBe('c');
    expect(replacedByBoxes(['a', 'b', 'c'], undefined)).toBeUndefined();
  });
});
