/** `bench/GPU.md`: what `npm run gpu` found, and nothing else. */

import { figure } from '../../bench/lib/bench.ts';
import { table } from '../../tools/table.ts';
import type { Driver } from './nvidia.ts';
import type { GoldenRow, Look, SweepRow } from './tasks.ts';

/** A way to serve pictures, at one number in flight. */
export interface ServedRow {
  readonly name: string;
  readonly inFlight: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  /** CPU milliseconds of all processes for a picture. */
  readonly cpu: number;
  /** Seconds from the start to the first healthy `/ping`. */
  readonly start: number;
  /** Percent of the time in which the GPU computed. */
  readonly busy?: number;
}

/** The sizes of one model with one setting. */
export interface SweepTable {
  readonly model: string;
  readonly setting: string;
  readonly inFlight: number;
  readonly rows: readonly SweepRow[];
}

/** A model on the GPU against the same on the CPU. */
interface LogitsRow {
  readonly model: string;
  readonly setting: string;
  /** As a part of the CPU's largest number. */
  readonly difference: number;
  readonly tolerance: number;
}

/** What a setting of memory took. */
interface MemoryRow {
  readonly setting: string;
  /** What TensorFlow says that it may take. */
  readonly limit: number | undefined;
  /** Bytes that the driver counts more than before. */
  readonly taken: number | undefined;
}

/** Everything known so far. */
export interface Report {
  readonly date: string;
  readonly machine: string;
  driver?: Driver | string;
  look?: Look;
  /** A second start, with what the driver has compiled by then. */
  again?: Look;
  goldens?: { readonly tf32: readonly GoldenRow[]; readonly exact: readonly GoldenRow[] };
  logits: LogitsRow[];
  sweeps: SweepTable[];
  memory: MemoryRow[];
  served: ServedRow[];
  /** What whoever ran it says of the machine or the library. */
  readonly notes: readonly string[];
  /** What is missing here, or was left out, and why. */
  missing: string[];
  /** What is wrong. */
  wrong: string[];
  seconds: number;
}

/** Largest difference of a float that a GPU's other order of summing may cause, relative above 1. */
export const EXACT_TOLERANCE = 1e-4;
/** The same with TF32, which GPUs since 2020 take for matrices: 10 bits of mantissa. */
export const TF32_TOLERANCE = 5e-3;

/** The page. */
export function page(report: Report): string {
  const parts = [
    '# On a GPU',
    '',
    '`npm run gpu` measured this and wrote this page; only notes under the machine are typed by hand. Models have random',
    'weights, which cost what trained ones do. `resnet50` and `mobilenet-uint8` take 224x224 pixels of uint8 and answer 1,000 logits.',
    '',
    ...machineLines(report),
    ...report.notes.flatMap((note) => [note, '']),
    ...goldenLines(report),
    ...logitLines(report),
    ...sweepLines(report),
    ...servedLines(report),
    ...memoryLines(report),
    ...list('Missing here, or left out', report.missing),
    ...list('Wrong', report.wrong),
  ];
  return `${parts.join('\n').trimEnd()}\n`;
}

function machineLines({ date, machine, driver, look, again, seconds }: Report): string[] {
  const rows: [string, string][] = [
    ['date', `${date}, measured in ${Math.round(seconds)} s`],
    ['machine', machine],
  ];
  if (typeof driver === 'string') rows.push(['driver', driver]);
  if (typeof driver === 'object') {
    rows.push(['driver', `${driver.version ?? '?'}, for CUDA up to ${driver.cuda ?? '?'}`]);
    for (const gpu of driver.gpus)
      rows.push([
        'GPU',
        `${gpu.name}, ${bytes(gpu.memoryBytes)}, compute capability ${gpu.computeCapability}`,
      ]);
  }
  if (look) {
    rows.push(['TensorFlow', `${look.tensorflow}, ${list2(look.devices.map(deviceText))}`]);
    const versions = Object.entries(look.versions).map((pair) => pair.join(' '));
    rows.push(['libraries of NVIDIA', list2(versions)]);
    rows.push([
      'first start',
      startText(look) + (again === undefined ? '' : `; again: ${startText(again)}`),
    ]);
  }
  return ['## The machine', '', table(['what', 'found'], rows), ''];
}

function deviceText({ name, memoryBytes }: Look['devices'][number]): string {
  return `${name} (${bytes(memoryBytes)})`;
}

function startText({ seconds }: Look): string {
  return `library ${figure(seconds.library)} s, model ${figure(seconds.model)} s, first run ${figure(seconds.run)} s`;
}

function goldenLines({ goldens }: Report): string[] {
  if (!goldens) return [];
  const exact = new Map(goldens.exact.map((row) => [row.model, row]));
  const rows = goldens.tf32.map((row) => [
    row.model,
    String(row.cases),
    difference(row.largest),
    difference(exact.get(row.model)?.largest ?? 0),
    row.wrong ?? exact.get(row.model)?.wrong ?? 'right',
  ]);
  return [
    '## Answers',
    '',
    `The models of this repository on the GPU against what Python TensorFlow answered on a CPU. Differences of floats are relative`,
    `above 1 and absolute below; allowed are ${TF32_TOLERANCE} as TensorFlow computes by default (TF32) and ${EXACT_TOLERANCE} with NVIDIA_TF32_OVERRIDE=0.`,
    '',
    table(['model', 'cases', 'largest difference', 'without TF32', 'otherwise'], rows),
    '',
  ];
}

function difference(value: number): string {
  return value === 0 ? '0' : value.toExponential(1);
}

function logitLines({ logits }: Report): string[] {
  if (logits.length === 0) return [];
  const rows = logits.map((row) => [
    row.model,
    row.setting,
    difference(row.difference),
    difference(row.tolerance),
  ]);
  return [
    'The largest difference of 8,000 logits on the GPU, as a part of the largest that the same library computes on the CPU:',
    '',
    table(['model', 'setting', 'difference', 'allowed'], rows),
    '',
  ];
}

function sweepLines({ sweeps }: Report): string[] {
  if (sweeps.length === 0) return [];
  const cells = sweeps.flatMap(({ model, setting, inFlight, rows }) => {
    const base = sweeps.find((one) => one.model === model)?.rows ?? [];
    return rows.map((row) => {
      const before = base.find(({ size }) => size === row.size)?.perSecond;
      return [
        model,
        setting,
        String(inFlight),
        String(row.size),
        row.failed ?? figure(row.perSecond),
        row.failed || !before ? '' : figure(row.perSecond / before),
        row.failed ? '' : figure(row.p50),
        row.failed ? '' : figure(row.first),
        row.busy === undefined ? '' : `${Math.round(row.busy)}%`,
      ];
    });
  });
  return [
    '## Batches',
    '',
    'Ready tensors in, logits out, through the library that in-process images hold, no HTTP and no decoding. The first run of a',
    'size includes what TensorFlow, cuDNN and XLA prepare for it.',
    '',
    table(
      [
        'model',
        'setting',
        'runs at once',
        'rows',
        'images/s',
        'against the first setting',
        'P50 ms',
        'first run, s',
        'GPU busy',
      ],
      cells,
    ),
    '',
  ];
}

function servedLines({ served }: Report): string[] {
  if (served.length === 0) return [];
  const rows = served.map((row) => [
    row.name,
    String(row.inFlight),
    figure(row.perSecond),
    figure(row.p50),
    figure(row.p95),
    figure(row.cpu),
    figure(row.start),
    row.busy === undefined ? '' : `${Math.round(row.busy)}%`,
  ]);
  return [
    '## Pictures over HTTP',
    '',
    'A JPEG of 20 KB a request, decoded and resized by the runtime, JSON out. The front end alone runs a model that computes',
    'next to nothing, on the CPU: no GPU makes the others faster than that.',
    '',
    table(
      [
        'served by',
        'in flight',
        'images/s',
        'P50 ms',
        'P95 ms',
        'CPU ms an image',
        'start, s',
        'GPU busy',
      ],
      rows,
    ),
    '',
  ];
}

function memoryLines({ memory }: Report): string[] {
  if (memory.length === 0) return [];
  const rows = memory.map(({ setting, limit, taken }) => [
    setting,
    limit === undefined ? 'not told' : bytes(limit),
    taken === undefined ? 'not told' : bytes(taken),
  ]);
  return [
    '## Memory of the GPU',
    '',
    'After the first run of one picture. The driver counts the context and the libraries of CUDA as well.',
    '',
    table(['setting', "TensorFlow's limit", 'taken, by the driver'], rows),
    '',
  ];
}

function list(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`## ${title}`, '', ...lines.map((line) => `- ${line.replaceAll('\n', ' ')}`), ''];
}

function list2(words: readonly string[]): string {
  return words.join(', ') || 'none';
}

function bytes(count: number): string {
  return count >= 2 ** 30
    ? `${(count / 2 ** 30).toFixed(1)} GiB`
    : `${(count / 2 ** 20).toFixed(0)} MiB`;
}
