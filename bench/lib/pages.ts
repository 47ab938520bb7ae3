/** The figures that README and docs show, behind `<!-- bench: WHAT -->`, from the results as they are. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { withMarked } from '../../tools/marked.ts';
import { table } from '../../tools/table.ts';
import { figure, isMet, type Target } from './bench.ts';
import type { Result } from './result.ts';

/** Pages with such figures, below the repository's folder. */
export const PAGES = ['README.md', 'docs/performance.md'];

/** The targets that tell most, in words for who has read nothing else. */
const HEADLINES: readonly [what: string, words: string][] = [
  [
    'One picture, gRPC, graph takes uint8: requests/s against Python gRPC',
    'A 20 KB picture in, 1,000 floats out, nothing computed, 8 in flight, a process a core: requests a second, against Python over gRPC',
  ],
  [
    'One picture, gRPC, graph takes uint8: requests/s against Python REST',
    'A 20 KB picture in, 1,000 floats out, nothing computed, 8 in flight, a process a core: requests a second, against Python over REST, whose tensors are JSON',
  ],
  [
    'One picture, in-process, graph takes uint8: requests/s against Python gRPC',
    "A 20 KB picture in, 1,000 floats out, 8 in flight, a process a core, TensorFlow in the runtime's own process: requests a second, against Python over gRPC (our target is 4x)",
  ],
  [
    "Detections, JSON: times as fast as Python's gRPC and json.dumps",
    "29 MB of detections as JSON: times as fast as Python's `json.dumps`",
  ],
  [
    'Detections, npz: time against two bare socket hops',
    '29 MB of detections as npz: time, against copying the bytes through two sockets',
  ],
  [
    'Peak memory over idle, in sizes of the largest reply in flight',
    'Peak memory for the largest response, as a multiple of its size',
  ],
];

/** A page with the figures behind every marker as the results have them now. @throws where one is not measured */
export function withFigures(page: string, path: string, results: readonly Result[]): string {
  const targets = results.flatMap((result) => result.targets ?? []);
  return withMarked(page, 'bench', (what) => {
    if (what === 'headlines') return headlines(targets);
    if (what === 'real-models') return realModels(results);
    return what === 'targets' ? targetTable(targets) : chart(what, path, results);
  });
}

/** Writes the figures to every page of {@link PAGES} below `root`. */
export function writeFigures(root: string, results: readonly Result[]): void {
  for (const path of PAGES) {
    const file = join(root, path);
    writeFileSync(file, withFigures(readFileSync(file, 'utf8'), path, results));
  }
}

function headlines(targets: readonly Target[]): string {
  const rows = HEADLINES.map(([what, words]) => {
    const found = targets.find((target) => target.what === what);
    if (!found) throw new Error(`no result for "${what}"`);
    return [words, withUnit(found.measured, found)];
  });
  return table(['measured', 'figure'], rows);
}

/** What a whole model leaves of the figures above: the rows of MobileNetV2. */
function realModels(results: readonly Result[]): string {
  const rows = results
    .find(({ name }) => name === 'real-models')
    ?.tables[0]?.rows.filter(({ name }) => String(name).startsWith('MobileNetV2'));
  if (!rows?.length) throw new Error('no rows of MobileNetV2 in real-models');
  const cell = (value: unknown) => (typeof value === 'number' ? `${figure(value)} ms` : '-');
  return table(
    ['MobileNetV2 whole, JPEG in, JSON out, 1 in flight', 'median', 'P95'],
    rows.map(({ through, p50, p95 }) => [String(through), cell(p50), cell(p95)]),
  );
}

/** A row for each target. */
export function targetTable(targets: readonly Target[]): string {
  return [
    '| | target | measured | met |',
    '| --- | --- | ---: | --- |',
    ...targets.map(
      (row) =>
        `| ${row.what} | ${row.bound} ${withUnit(row.target, row)} | ${withUnit(row.measured, row)} | ${isMet(row) ? 'yes' : '**no**'} |`,
    ),
  ].join('\n');
}

/** `NAME-NUMBER` of a benchmark's charts, the file's name in `bench/results/`. */
function chart(name: string, path: string, results: readonly Result[]): string {
  const [, bench, number] = /^(.*)-(\d)$/.exec(name) ?? [];
  const found = results.find((result) => result.name === bench)?.charts?.[Number(number) - 1];
  if (!found) throw new Error(`no chart ${name}`);
  const file = relative(dirname(path), join('bench', 'results', `${name}.svg`));
  return `![${found.title}: ${found.unit}](${file})\n\n*${found.title}. ${found.conditions}*`;
}

/** `3.65x`, `14.7 ms`. */
function withUnit(value: number, { unit }: Target): string {
  return unit === 'x' ? `${figure(value)}x` : `${figure(value)} ${unit}`;
}
