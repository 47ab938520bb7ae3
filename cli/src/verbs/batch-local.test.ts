import { describeResult } from './batch-local.ts';

test('a name with a line break takes one line, as any other', () => {
  const failures = [{ key: 'a\nb.json', message: 'it is \rempty', status: 400 }];
  const text = describeResult({
    ...{ done: 1, skipped: 0, failed: 1, inputs: 2, missing: 1, seconds: 1, failures },
    ...{ duplicates: ['c\nd.json'], maxConcurrentTransforms: 1 },
  });
  expect(text.split('\n').slice(2)).toEqual([
    'the manifest repeats 1 keys, each done once: c·d.json',
    '  a·b.json: 400: it is ·empty',
  ]);
});
