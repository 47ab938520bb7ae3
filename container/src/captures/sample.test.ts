/** Which captures are chosen out of many. */
import { type CaptureFile, sampleOf } from './sample.ts';

/** A file of lines `0` and on, whose reads are counted. */
const reads: string[] = [];
function file(name: string, lines: number): CaptureFile {
  const text = Array.from({ length: lines }, (_, i) => `${i}\n`).join('');
  const read = async () => {
    reads.push(name);
    return text;
  };
  return { name, size: text.length, read };
}

/** Lines of each folder that were chosen, and what the sample says of itself. */
async function chosen(files: readonly CaptureFile[], max: number, inOrder = false) {
  reads.length = 0;
  const sample = sampleOf(files, { max, inOrder });
  const byFolder: Record<string, number[]> = {};
  for await (const { file, text, number } of sample.lines()) {
    expect(number).toBe(Number(text) + 1);
    const folder = file.slice(0, file.lastIndexOf('/'));
    byFolder[folder] ??= [];
    byFolder[folder].push(Number(text));
  }
  return { byFolder, coverage: sample.coverage() };
}

const counts = (byFolder: Record<string, number[]>) =>
  Object.fromEntries(Object.entries(byFolder).map(([folder, { length }]) => [folder, length]));

test('each hour of each variant has its share, and what one lacks others get', async () => {
  const files = [
    ...[0, 1, 2].map((i) => file(`v/10/${i}`, 1000)),
    ...[0, 1, 2].map((i) => file(`v/11/${i}`, 1000)),
    file('w/10/0', 6),
    file('w/11/0', 0),
  ];
  const { byFolder, coverage } = await chosen(files, 106);
  expect(counts(byFolder)).toEqual({ 'v/10': 50, 'v/11': 50, 'w/10': 6 });
  expect(coverage).toEqual({ captures: 106, of: 6006, exact: true, hours: 3, ofHours: 4 });
  // From all over the hour.
  expect(Math.max(...(byFolder['v/10'] ?? []))).toBeGreaterThan(900);
});

test('few files of many are read, and the number of captures is an estimate', async () => {
  const files = Array.from({ length: 600 }, (_, i) =>
    file(`v/${Math.floor(i / 300)}/${String(i).padStart(3, '0')}`, 100),
  );
  const { byFolder, coverage } = await chosen(files, 200);
  expect(counts(byFolder)).toEqual({ 'v/0': 100, 'v/1': 100 });
  expect(reads).toHaveLength(20);
  expect(coverage).toEqual({ captures: 200, of: 60_000, exact: false, hours: 2, ofHours: 2 });
  // Early, middle and late ones of the hour.
  const thirds = new Set(reads.map((name) => Math.floor(Number(name.slice(4)) / 100)));
  expect([...thirds].sort()).toEqual([0, 1, 2, 3, 4, 5]);
});

test('requests that repeat a pattern show all of it', async () => {
  const { byFolder } = await chosen([file('v/0/a', 200)], 20);
  const places = byFolder['v/0'] ?? [];
  expect(new Set(places).size).toBe(20);
  expect(new Set(places.map((place) => place % 10)).size).toBeGreaterThan(7);
});

test('small files are read until there are enough captures', async () => {
  const files = Array.from({ length: 100 }, (_, i) => file(`v/0/${i}`, 2));
  const { coverage } = await chosen(files, 150);
  expect(coverage.captures).toBe(150);
});

test('more hours than captures: those read are spread over all', async () => {
  const files = Array.from({ length: 100 }, (_, i) => file(`v/${i}/0`, 5));
  const { byFolder, coverage } = await chosen(files, 4);
  expect(Object.values(counts(byFolder))).toEqual([1, 1, 1, 1]);
  expect(coverage).toEqual({ captures: 4, of: 500, exact: false, hours: 4, ofHours: 100 });
});

test('in order, the first ones of each hour are taken', async () => {
  const files = [file('v/0/b', 50), file('v/0/a', 8), file('v/1/a', 50)];
  const { byFolder } = await chosen(files, 20, true);
  const first = (count: number) => Array.from({ length: count }, (_, i) => i);
  expect(byFolder).toEqual({ 'v/0': [...first(8), 0, 1], 'v/1': first(10) });
});

test('nothing is nothing', async () => {
  const { coverage } = await chosen([], 10);
  expect(coverage).toEqual({ captures: 0, of: 0, exact: true, hours: 0, ofHours: 0 });
});
