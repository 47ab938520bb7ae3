import type { S3Object, WorkerInputs } from '@sagemaker-tfs/batch/s3';
import { inputsBetween } from './range.ts';

const object = (key: string): S3Object => ({ key, size: 1, modified: 0 });

function inputs(objects: () => AsyncIterable<S3Object>): WorkerInputs {
  return {
    bucket: 'bucket',
    root: '',
    prefix: '',
    digest: undefined,
    objects,
    cuts: async () => [],
  };
}

async function keysOf(objects: () => AsyncIterable<S3Object>, stopping: AbortSignal) {
  const keys: string[] = [];
  const all = inputsBetween(inputs(objects), { after: undefined, upTo: 'b' }, stopping);
  for await (const { key } of all) keys.push(key);
  return keys;
}

test('the inputs of a range end at its last key', async () => {
  async function* objects() {
    yield* [object('a'), object('b'), object('c')];
  }
  expect(await keysOf(objects, new AbortController().signal)).toEqual(['a', 'b']);
});

test.each([
  ['for a page that never comes', () => new Promise<never>(() => undefined)],
  [
    'through pages without an input',
    () => new Promise<void>((resolve) => setImmediate(() => resolve())),
  ],
])('a worker that is to end does not wait %s', async (_, page) => {
  async function* objects() {
    yield object('a');
    while (!isOver) await page();
  }
  let isOver = false;
  const stopping = new AbortController();
  const keys = keysOf(objects, stopping.signal);
  setTimeout(() => stopping.abort(), 50);
  expect(await keys).toEqual(['a']);
  isOver = true;
});

test('an error of a listing is that of the range', async () => {
  // biome-ignore lint/correctness/useYield: it fails at once
  async function* objects(): AsyncGenerator<S3Object> {
    throw new Error('denied');
  }
  await expect(keysOf(objects, new AbortController().signal)).rejects.toThrow('denied');
});
