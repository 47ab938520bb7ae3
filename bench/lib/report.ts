/** `bench/results/*.json` and the charts beside them, and `bench/RESULTS.md` made of all of them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Bench, type Findings, figure, type ResultTable, type Row } from './bench.ts';
import { barChart } from './charts.ts';
import { targetTable, writeFigures } from './pages.ts';
import { ROOT } from './programs.ts';
import type { Result } from './result.ts';

const RESULTS = join(ROOT, 'bench', 'results');

/** Writes one benchmark's findings and its charts. */
export function writeResult(
  bench: Bench,
  findings: Findings,
  run: Pick<Result, 'quick' | 'seconds' | 'loadBefore' | 'stolen' | 'modelServer'>,
): void {
  mkdirSync(RESULTS, { recursive: true });
  for (const file of readdirSync(RESULTS)) {
    if (chartNames(bench.name, 9).includes(file)) rmSync(join(RESULTS, file));
  }
  const result: Result = {
    name: bench.name,
    question: bench.question,
    date: new Date().toISOString().slice(0, 10),
    ...run,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      node: process.versions.node,
    },
    ...findings,
  };
  const text = JSON.stringify(result, rounded, 2);
  writeFileSync(join(RESULTS, `${bench.name}.json`), `${text}\n`);
  // Of what was written, so that the charts show the same when they are drawn again.
  drawCharts(JSON.parse(text) as Result);
}

/** Draws the charts of every committed result again, which measures nothing. */
export function redrawCharts(benches: readonly Bench[]): void {
  for (const result of readResults(benches)) drawCharts(result);
}

function drawCharts({ name, charts = [] }: Result): void {
  const names = chartNames(name, charts.length);
  for (const [index, chart] of charts.entries()) {
    writeFileSync(join(RESULTS, names[index] as string), `${barChart(chart)}\n`);
  }
}

function chartNames(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}.svg`);
}

/** Nothing is known to more than five digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(5))
    : value;
}

/** Writes `bench/RESULTS.md`, and what README and docs show, from every result there is, in the order of `benches`. */
export function writeReport(benches: readonly Bench[]): void {
  const results = readResults(benches);
  if (results.length === 0) return;
  const text = [
    '# Benchmarks',
    '',
    '`npm run bench` measures all of this anew and writes this page; nothing in it is typed by hand. Every ratio is',
    'to a baseline of the same run on the same machine: a front end and the baseline take turns, with no other alive,',
    'and the table shows the median round. A round in which the host of a virtual machine took more than a twentieth',
    'of the processor time is measured again, once, and the calmest rounds count.',
    '',
    `${machineText(results)}`,
    '',
    '## Targets',
    '',
    targetTable(results.flatMap(({ targets = [] }) => targets)),
    '',
    ...results.flatMap(section),
  ].join('\n');
  writeFileSync(join(ROOT, 'bench', 'RESULTS.md'), `${text.trimEnd()}\n`);
  // Short windows are to look at.
  if (results.every(({ quick }) => !quick)) writeFigures(ROOT, results);
}

/** What `bench/results/` holds, in the order of `benches`. */
export function readResults(benches: readonly Bench[]): Result[] {
  const files = readdirSync(RESULTS);
  return benches
    .filter(({ name }) => files.includes(`${name}.json`))
    .map(({ name }) => JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')) as Result);
}

function machineText(results: readonly Result[]): string {
  const told = results.map(
    ({ date, quick, machine, loadBefore }) =>
      `${date}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}${loadBefore === undefined ? '' : `, load average before the run ${figure(loadBefore)}`}${quick ? ', short windows' : ''}`,
  );
  return [...new Set(told)].map((line) => `- ${line}`).join('\n');
}

function section(result: Result): string[] {
  const charts = chartNames(result.name, result.charts?.length ?? 0);
  return [
    `## ${result.question}`,
    '',
    ...(result.notes ?? []).flatMap((note) => [note, '']),
    ...result.tables.flatMap(tableLines),
    ...circumstances(result),
    ...charts.flatMap((file, index) => [
      `![${result.charts?.[index]?.title}](results/${file})`,
      '',
    ]),
  ];
}

function circumstances({ seconds, stolen, modelServer }: Result): string[] {
  const server = modelServer === undefined ? [] : [`In front of ${modelServer}.`, ''];
  if (!stolen) return server;
  return [
    ...server,
    `Measured in ${figure(seconds)} s, in which the host of this virtual machine took ${figure(stolen * 100)}% of the processor time that was wanted.`,
    '',
  ];
}

function tableLines({ title, columns, rows }: ResultTable): string[] {
  const isNumber = (key: string) => rows.every((row) => typeof row[key] !== 'string');
  return [
    `**${title}**`,
    '',
    `| ${columns.map((column) => column.title).join(' | ')} |`,
    `| ${columns.map(({ key }) => (isNumber(key) ? '---:' : '---')).join(' | ')} |`,
    ...rows.map((row) => `| ${columns.map(({ key }) => cell(row, key)).join(' | ')} |`),
    '',
  ];
}

function cell(row: Row, key: string): string {
  const value = row[key] ?? '-';
  return typeof value === 'number' ? figure(value) : value;
}
