import { onlyInput } from './input-error.ts';

const float = { name: '', dtype: 'float32', shape: [-1] } as const;
const signatureOf = (...names: string[]) => ({
  key: 'serving_default',
  method: 'predict' as const,
  inputs: Object.fromEntries(names.map((name) => [name, float])),
  outputs: {},
});

test.each([
  [['age', 'clicks'], '{"instances": [{"age": ..., "clicks": ...}]}'],
  [['a', 'b', 'c', 'd', 'e'], '{"instances": [{"a": ..., "b": ..., "c": ..., "d": ..., ...}]}'],
])('an unnamed tensor for %j: the message shows JSON that names them', (names, row) => {
  const take = () => onlyInput(signatureOf(...names) as never, 'application/json');
  expect(take).toThrow(`Name them: application/x-npz, or JSON such as ${row}.`);
});
