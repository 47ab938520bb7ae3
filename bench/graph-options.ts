/** MobileNetV2 with XLA, mixed precision, oneDNN and threads set otherwise, each against the default. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { request } from 'undici';
import type { Bench, BenchContext, Findings, ResultTable, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { startReal } from './lib/front-ends.ts';
import { pictureRequest, smallPicture } from './lib/pictures.ts';
import {
  type Contender,
  compareFrontEnds,
  frontEndChart,
  type Measured,
  type Request,
} from './lib/serving.ts';

const DEFAULT = 'default';
const SETTINGS: readonly [name: string, environment: Readonly<Record<string, string>>][] = [
  ['XLA', { SAGEMAKER_TFS_XLA: 'true' }],
  ['bfloat16', { SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' }],
  ['oneDNN off', { SAGEMAKER_TFS_ONEDNN: 'false' }],
  ['1 thread inside an operation', { SAGEMAKER_TFS_INTRA_OP_PARALLELISM: '1' }],
  ['1 operation at a time', { SAGEMAKER_TFS_INTER_OP_PARALLELISM: '1' }],
];
const IN_FLIGHT = [1, 4];
const CONDITIONS = `MobileNetV2 whole, random weights, in-process, one process; ${availableParallelism()} cores, no GPU.`;
/** Of the usual window, so that all settings take less than a minute. */
const SHORTER = 0.33;

/** What the first request of a setting told. */
interface First {
  /** Seconds, compilation included. */
  readonly seconds: number;
  readonly logits: readonly number[];
}

export const graphOptions: Bench = {
  name: 'graph-options',
  question: "What do TensorFlow's graph options change on this CPU?",
  async run(context): Promise<Findings> {
    const request = pictureRequest(await smallPicture());
    const firsts = new Map<string, First>();
    const contender = (name: string, environment: Readonly<Record<string, string>>): Contender => {
      const start = async () => {
        const frontEnd = await startReal('mobilenet-uint8', {
          SAGEMAKER_TFS_BACKEND: 'in-process',
          ...environment,
        });
        firsts.set(name, await firstRequest(frontEnd.url, request));
        return frontEnd;
      };
      return [name, start];
    };
    const shorter: BenchContext = { ...context, seconds: context.seconds * SHORTER };
    const measured = await compareFrontEnds(shorter, {
      baseline: contender(DEFAULT, {}),
      others: SETTINGS.map(([name, environment]) => contender(name, environment)),
      request,
      inFlight: IN_FLIGHT,
    });
    return {
      tables: [table(measured, firsts)],
      charts: IN_FLIGHT.map((count) =>
        frontEndChart('rate', 'MobileNetV2', CONDITIONS, measured, count),
      ),
      notes: [
        `MobileNetV2 on ${availableParallelism()} cores and no GPU, in-process; from the JPEG to the last byte of the answer. The processor has ${features().join(', ') || 'no instructions for 16 bits'}. The difference is that of the answers to one picture, against the default's largest number; 0 where the option computes the same.`,
        'TensorFlow Serving gets the same options, as flags and variables; float16 needs a GPU. How to measure on one: [Performance](../docs/performance.md#on-your-gpu).',
      ],
    };
  },
};

async function firstRequest(url: string, { headers, body }: Request): Promise<First> {
  const from = performance.now();
  const path = `${url}/invocations`;
  const reply = await request(path, { method: 'POST', headers: { ...headers }, body });
  if (reply.statusCode !== 200) throw new Error(`${path}: ${await reply.body.text()}`);
  const { predictions } = (await reply.body.json()) as { predictions: [number[]] };
  return { seconds: (performance.now() - from) / 1_000, logits: predictions[0] };
}

function table(measured: readonly Measured[], firsts: ReadonlyMap<string, First>): ResultTable {
  const exact = firsts.get(DEFAULT)?.logits ?? [];
  const rows = measured.map((one): Row => {
    const first = firsts.get(one.name);
    return {
      name: one.name,
      inFlight: one.inFlight,
      p50: one.latency.p50,
      requestsPerSecond: one.requestsPerSecond,
      ratio: one.ratio,
      cpu: one.cpuMilliseconds,
      first: first?.seconds,
      difference: first && 100 * largestDifference(first.logits, exact),
    };
  });
  return {
    title: 'MobileNetV2, uint8 (baseline: TensorFlow as it is by default)',
    columns: columns({
      name: 'Option',
      inFlight: 'In flight',
      p50: 'P50 ms',
      requestsPerSecond: 'Requests/s',
      ratio: 'Requests/s against the default',
      cpu: 'CPU, ms a request',
      first: 'First answer, s',
      difference: 'Largest difference, %',
    }),
    rows,
  };
}

/** As a part of the greatest of `exact`. */
function largestDifference(logits: readonly number[], exact: readonly number[]): number {
  const greatest = Math.max(...exact.map(Math.abs));
  return Math.max(...exact.map((value, i) => Math.abs((logits[i] ?? 0) - value))) / greatest;
}

/** The processor's instructions for numbers of 16 bits and for oneDNN; none where the system does not tell. */
function features(): string[] {
  const known = ['avx512f', 'avx512_vnni', 'avx512_bf16', 'avx512_fp16', 'amx_bf16', 'amx_fp16'];
  try {
    const flags = new Set(readFileSync('/proc/cpuinfo', 'latin1').split(/\s+/));
    return known.filter((name) => flags.has(name));
  } catch {
    return [];
  }
}
