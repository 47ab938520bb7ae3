/**
 * `npm run soak`: a steady load of all codecs and several models at 70% of the rate that the runtime can bear, and what
 * memory, descriptors, handles and latency do meanwhile. Options: `--minutes N` (default 60), `--clients N` (default 8),
 * `--backend grpc|rest|in-process` (default grpc), `--write` (its section of docs/reliability.md, with a chart). Exit
 * status 1 if an answer was not right, or the last third of the minutes cost more than the first; see soak-flat.ts.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
} from '@sagemaker-tfs/tensors';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { type LatencySummary, summarize } from 'sagemaker-tfs/development/output';
import { machine, today } from '../../tools/machine.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { ask } from './clients.ts';
import { writeSection } from './page.ts';
import type { Question } from './question.ts';
import { golden } from './questions.ts';
import { type Backend, type Served, startServed } from './served.ts';
import { soakChart } from './soak-chart.ts';
import { FLAT, unflat } from './soak-flat.ts';
import { Tally } from './tally.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    clients: { type: 'string', default: '8' },
    backend: { type: 'string', default: 'grpc' },
    write: { type: 'boolean', default: false },
  },
});

const MODELS = ['half_plus_two', 'digits', 'image_uint8', 'strings'];
/** Behind every model; the codecs still read and write. */
const HANDLER = 'export const outputHandler = (result) => result;\n';
const HANDLES = join(import.meta.dirname, 'handles.mjs');
/** Of what it can bear. */
const PART = 0.7;
/** A tf.Example: `x` is a float, 2. */
const EXAMPLE = Buffer.from('0a0f0a0d0a0178120812060a0400000040', 'hex');
const WARM_UP_SECONDS = 15;
const MEASURED_SECONDS = 15;
const SUFFIX = values.backend === 'grpc' ? '' : `-${values.backend}`;
const PICTURE = `images/soak${SUFFIX}.svg`;
const SVG = join(import.meta.dirname, '..', '..', 'docs', PICTURE);

/** What was seen at the end of a minute. */
interface Minute {
  readonly minute: number;
  readonly requests: number;
  /** Milliseconds. */
  readonly latency: LatencySummary;
  readonly memoryMiB: number;
  /** Files, sockets and timers of the kernel, of all processes. */
  readonly descriptors: number;
  /** Handles and timers of Node, of all its processes. */
  readonly handles: number;
}

async function run(): Promise<void> {
  const minutes = Number(values.minutes);
  const work = await mkdtemp(join(tmpdir(), 'soak-'));
  try {
    for (const name of MODELS) {
      await cp(fixtureModel(name).basePath, join(work, 'model', name), { recursive: true });
    }
    await mkdir(join(work, 'model', 'code'));
    await writeFile(join(work, 'model', 'code', 'inference.mjs'), HANDLER);
    const handles = join(work, 'handles');
    mkdirSync(handles);
    const served = await startServed({
      modelDirectory: join(work, 'model'),
      backend: values.backend as Backend,
      environment: {
        SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
        SAGEMAKER_TFS_PARQUET: 'true',
        SOAK_HANDLES: handles,
        NODE_OPTIONS: `--import=${HANDLES}`,
      },
    });
    try {
      await soak(served, minutes, () => sumOf(handles));
    } finally {
      await served.stop();
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What the processes noted last. */
function sumOf(handles: string): number {
  return readdirSync(handles)
    .map((name) => Number(readFileSync(join(handles, name), 'utf8')))
    .reduce((sum, count) => sum + count, 0);
}

async function soak(served: Served, minutes: number, handles: () => number): Promise<void> {
  const tally = new Tally();
  const questions = await questionsFor(served.url);
  await load(served, questions, tally, WARM_UP_SECONDS);
  const free = await load(served, questions, tally, MEASURED_SECONDS);
  const most = free.length / MEASURED_SECONDS;
  console.error(`${most.toFixed(0)} requests a second at most`);
  const seen: Minute[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const times = await load(served, questions, tally, 60, PART * most);
    const latency = summarize(times);
    const memoryMiB = served.memoryBytes() / 2 ** 20;
    const one = { minute, requests: times.length, latency, memoryMiB };
    seen.push({ ...one, descriptors: served.descriptors(), handles: handles() });
    console.error(line(seen.at(-1) as Minute));
  }
  const counts = tally.counts();
  console.error(JSON.stringify(counts));
  const changed = unflat(seen.map((one) => ({ ...one, p50: one.latency.p50 })));
  for (const what of changed) console.error(`not flat: ${what}`);
  if (counts.right !== counts.tries || changed.length > 0) process.exitCode = 1;
  const flat = changed.length > 0 ? `not flat (${changed.join('; ')})` : 'flat';
  if (values.write) write(seen, most, counts.tries, counts.tries - counts.right, flat);
}

/** Asks for so long. @param rate requests a second of all clients. Default: as fast as answers come. @returns ms of each */
async function load(
  { url }: Served,
  questions: readonly Question[],
  tally: Tally,
  seconds: number,
  rate = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  const end = started + seconds * 1_000;
  const times: number[] = [];
  let next = 0;
  const client = async () => {
    for (;;) {
      const index = next++;
      const due = started + (1_000 * index) / rate;
      if (Math.max(due, performance.now()) >= end) return;
      await sleep(Math.max(0, due - performance.now()));
      const question = questions[index % questions.length] as Question;
      const since = performance.now();
      tally.count(question, await ask(url, question, agent), since);
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: Number(values.clients) }, client));
  agent.destroy();
  return times;
}

async function questionsFor(url: string): Promise<Question[]> {
  const numbers = numericTensor('float32', [3, 1], Float32Array.of(1, 2, 5));
  const digits = numericTensor('float32', [8, 28, 28, 1], new Float32Array(8 * 784).fill(0.5));
  const samples = 'examples/digits/samples';
  const picture = readdirSync(samples).find((name) => name.endsWith('.jpg')) as string;
  const record = encodeSageMakerRecord({ x: numericTensor('float32', [1], Float32Array.of(2)) });
  const columnData = [{ name: 'x', data: [1, 2, 5], type: 'FLOAT' as const }];
  const text = Buffer.from('text');
  const asked: [model: string, contentType: string, body: string | Uint8Array][] = [
    ['half_plus_two', 'application/json', '{"instances":[[1.0],[2.0],[5.0]]}'],
    ['half_plus_two', 'application/jsonlines', '[1.0]\n[2.0]\n[5.0]\n'],
    ['half_plus_two', 'text/csv', '1.0\n2.0\n5.0\n'],
    ['half_plus_two', 'application/x-npy', Buffer.concat(encodeNpy(numbers))],
    ['digits', 'application/x-npy', Buffer.concat(encodeNpy(digits))],
    ['digits', 'application/x-npz', Buffer.concat(encodeNpz({ image: digits }))],
    ['digits', 'application/json', JSON.stringify({ instances: plainDigits() })],
    ['image_uint8', 'application/x-image', readFileSync(join(samples, picture))],
    ['half_plus_two', 'application/x-tfrecord', Buffer.concat(encodeTfRecord(EXAMPLE))],
    ['half_plus_two', 'application/x-recordio', Buffer.concat(encodeRecordIo(EXAMPLE))],
    ['half_plus_two', 'application/x-recordio-protobuf', Buffer.concat(encodeRecordIo(record))],
    ['half_plus_two', 'application/x-parquet', new Uint8Array(parquetWriteBuffer({ columnData }))],
    ['strings', 'application/octet-stream', Buffer.concat(encodeLengthPrefixed(text))],
    ['strings', 'application/json', '{"instances":["a","text of some length"]}'],
    ['strings', 'text/csv', 'a\n"text, of some length"\n'],
  ];
  const questions: Question[] = [];
  for (const [model, contentType, body] of asked) {
    const headers = { 'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${model}` };
    const question = { path: '/invocations', contentType, headers, body: Buffer.from(body) };
    questions.push({ ...question, golden: await golden(url, question) });
  }
  return questions;
}

function plainDigits(): number[][][][] {
  return Array.from({ length: 8 }, () =>
    Array.from({ length: 28 }, () => Array.from({ length: 28 }, () => [0.5])),
  );
}

function line({ minute, requests, latency, memoryMiB, descriptors, handles }: Minute): string {
  return `minute ${minute}: ${requests} requests, P50 ${latency.p50.toFixed(1)} ms, P95 ${latency.p95.toFixed(1)} ms, ${memoryMiB.toFixed(0)} MiB, ${descriptors} descriptors, ${handles} handles`;
}

function write(
  seen: readonly Minute[],
  most: number,
  tries: number,
  bad: number,
  flat: string,
): void {
  // Rounded as in the table.
  const charted = seen.map(({ minute, latency, memoryMiB, descriptors }) => ({
    minute,
    p95: Number(latency.p95.toFixed(1)),
    memoryMiB: Math.round(memoryMiB),
    descriptors,
  }));
  const conditions = `${values.clients} clients with a request in flight each, at ${Math.round(100 * PART)}% of the rate without a pause. One process; ${MODELS.length} small models in TensorFlow.`;
  writeFileSync(SVG, `${soakChart(charted, conditions)}\n`);
  const rows = seen.map(({ minute, requests, latency, memoryMiB, descriptors, handles }) => {
    const cells = [
      minute,
      requests.toLocaleString('en'),
      latency.p50.toFixed(1),
      latency.p95.toFixed(1),
      memoryMiB.toFixed(0),
      descriptors,
      handles,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  writeSection(
    values.backend === 'grpc' ? 'Soak' : `Soak, ${values.backend}`,
    `Run on ${today()} with \`npm run soak -- --minutes ${values.minutes} --backend ${values.backend}\`, on ${machine()}: ${MODELS.length} models and 11 media types
over ${values.backend}, at ${Math.round(100 * PART)}% of the ${most.toFixed(0)} requests a second that the same clients got without a pause. Of
${tries.toLocaleString('en')} answers ${bad.toLocaleString('en')} were not right.
The last third of the minutes may take ${FLAT}; by that it was ${flat}.

![Memory, descriptors and latency by the minute](${PICTURE})

| minute | requests | P50, ms | P95, ms | memory, MiB | descriptors | handles |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}
`,
  );
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
