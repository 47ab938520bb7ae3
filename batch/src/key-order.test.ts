import { uniform } from 'sagemaker-tfs/development/random';
import {
  compareKeys,
  compareOutputs,
  fromSortable,
  inOutputOrder,
  matchOutputs,
  toSortable,
} from './key-order.ts';

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Keys that are starts of one another, around the characters that sort about `.out`. */
function randomKeys(random: () => number): string[] {
  const letters = ['.', 'o', 'u', 't', '-', '/', '!', 'z', '\uffff', '\u{1f600}'];
  const keys = new Set<string>();
  for (let i = 0; i < 60; i++) {
    const length = 1 + Math.floor(random() * 6);
    const letter = () => letters[Math.floor(random() * letters.length)];
    keys.add(Array.from({ length }, letter).join(''));
  }
  return [...keys];
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('keys compare as the bytes of their UTF-8', () => {
  const random = uniform(1);
  for (let round = 0; round < 200; round++) {
    const keys = randomKeys(random);
    expect([...keys].sort(compareKeys)).toEqual([...keys].sort(byBytes));
  }
});

const keyed = (keys: readonly string[]) => each(keys.map((key) => ({ key })));

async function reordered(keys: readonly string[]): Promise<string[]> {
  return (await collect(inOutputOrder(keyed(keys)))).map(({ key }) => key);
}

test('sorted inputs come out in the order of their outputs', async () => {
  expect(await reordered(['a', 'a-1', 'a-1!', 'a.b', 'a0'])).toEqual(
    ['a-1!', 'a-1', 'a.b', 'a', 'a0'].sort(compareOutputs),
  );
  const random = uniform(2);
  for (let round = 0; round < 300; round++) {
    const keys = randomKeys(random).sort(byBytes);
    expect(await reordered(keys)).toEqual([...keys].sort(compareOutputs));
  }
});

test('the merge finds what is missing and what is too much', async () => {
  const random = uniform(3);
  for (let round = 0; round < 100; round++) {
    const keys = randomKeys(random);
    const inputs = keys.filter(() => random() < 0.7).sort(byBytes);
    const outputs = keys.filter(() => random() < 0.7);
    const listed = outputs
      .map((key) => `${key}.out`)
      .sort(byBytes)
      .map((name) => ({ key: name.slice(0, -4) }));
    const matches = await collect(matchOutputs(inOutputOrder(keyed(inputs)), each(listed)));
    const of = (kind: string) =>
      new Set(matches.filter((match) => match.kind === kind).map(({ key }) => key));
    expect(of('missing')).toEqual(new Set(inputs.filter((key) => !outputs.includes(key))));
    expect(of('done')).toEqual(new Set(inputs.filter((key) => outputs.includes(key))));
    expect(of('extra')).toEqual(new Set(outputs.filter((key) => !inputs.includes(key))));
  }
});

const SORTABLE = [
  'a',
  'a b',
  'a+b',
  'ü',
  '東京',
  '\ud7ff',
  '\ue000',
  '\uffee',
  '\uffff',
  '😀',
  '\u{10ffff}',
  'x😀\uffee',
];

test('sortable texts sort as the bytes of UTF-8 do, which is the order of S3', () => {
  const byBytes = [...SORTABLE].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(SORTABLE.map(toSortable).sort().map(fromSortable)).toEqual(byBytes);
});

test('the key comes back as it was', () => {
  for (const key of SORTABLE) expect(fromSortable(toSortable(key))).toBe(key);
});
