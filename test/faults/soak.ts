/**
 * `npm run soak`: a steady load of all codecs and several models at 70% of the rate that the runtime can bear, and what
 * memory, descriptors and latency do meanwhile. Options: `--minutes N` (default 60), `--clients N` (default 8),
 * `--write` (its section of docs/reliability.md, with a chart). Exit status 1 where an answer was not right.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { encodeNpy, encodeNpz, numericTensor } from '@sagemaker-tfs/tensors';
import { type LatencySummary, summarize } from 'sagemaker-tfs/development/output';
import { machine, today } from '../../tools/machine.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { ask } from './clients.ts';
import { writeSection } from './page.ts';
import type { Question } from './question.ts';
import { golden } from './questions.ts';
import { type Served, startServed } from './served.ts';
import { soakChart } from './soak-chart.ts';
import { Tally } from './tally.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    clients: { type: 'string', default: '8' },
    write: { type: 'boolean', default: false },
  },
});

const MODELS = ['half_plus_two', 'digits', 'image_uint8'];
/** Of what it can bear. */
const PART = 0.7;
const WARM_UP_SECONDS = 15;
const MEASURED_SECONDS = 15;
const SVG = join(import.meta.dirname, '..', '..', 'docs', 'images', 'soak.svg');

/** What was seen at the end of a minute. */
interface Minute {
  readonly minute: number;
  readonly requests: number;
  /** Milliseconds. */
  readonly latency: LatencySummary;
  readonly memoryMiB: number;
  /** Files, sockets and timers of the kernel, of all processes. */
  readonly descriptors: number;
}

async function run(): Promise<void> {
  const minutes = Number(values.minutes);
  const work = await mkdtemp(join(tmpdir(), 'soak-'));
  try {
    for (const name of MODELS) {
      await cp(fixtureModel(name).basePath, join(work, name), { recursive: true });
    }
    const served = await startServed({
      modelDirectory: work,
      backend: 'grpc',
      environment: { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two' },
    });
    try {
      await soak(served, minutes);
    } finally {
      await served.stop();
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function soak(served: Served, minutes: number): Promise<void> {
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
    seen.push({ ...one, descriptors: served.descriptors() });
    console.error(line(seen.at(-1) as Minute));
  }
  const counts = tally.counts();
  console.error(JSON.stringify(counts));
  if (counts.right !== counts.tries) process.exitCode = 1;
  if (values.write) write(seen, most, counts.tries, counts.tries - counts.right);
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
  const asked: [model: string, contentType: string, body: string | Uint8Array][] = [
    ['half_plus_two', 'application/json', '{"instances":[[1.0],[2.0],[5.0]]}'],
    ['half_plus_two', 'application/jsonlines', '[1.0]\n[2.0]\n[5.0]\n'],
    ['half_plus_two', 'text/csv', '1.0\n2.0\n5.0\n'],
    ['half_plus_two', 'application/x-npy', Buffer.concat(encodeNpy(numbers))],
    ['digits', 'application/x-npy', Buffer.concat(encodeNpy(digits))],
    ['digits', 'application/x-npz', Buffer.concat(encodeNpz({ image: digits }))],
    ['digits', 'application/json', JSON.stringify({ instances: plainDigits() })],
    ['image_uint8', 'application/x-image', readFileSync(join(samples, picture))],
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

function line({ minute, requests, latency, memoryMiB, descriptors }: Minute): string {
  return `minute ${minute}: ${requests} requests, P50 ${latency.p50.toFixed(1)} ms, P95 ${latency.p95.toFixed(1)} ms, ${memoryMiB.toFixed(0)} MiB, ${descriptors} descriptors`;
}

function write(seen: readonly Minute[], most: number, tries: number, bad: number): void {
  // Rounded as in the table.
  const charted = seen.map(({ minute, latency, memoryMiB, descriptors }) => ({
    minute,
    p95: Number(latency.p95.toFixed(1)),
    memoryMiB: Math.round(memoryMiB),
    descriptors,
  }));
  const conditions = `${values.clients} clients with a request in flight each, at ${Math.round(100 * PART)}% of the rate without a pause. One process; ${MODELS.length} small models in TensorFlow.`;
  writeFileSync(SVG, `${soakChart(charted, conditions)}\n`);
  const rows = seen.map(({ minute, requests, latency, memoryMiB, descriptors }) => {
    const cells = [
      minute,
      requests.toLocaleString('en'),
      latency.p50.toFixed(1),
      latency.p95.toFixed(1),
      memoryMiB.toFixed(0),
      descriptors,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  writeSection(
    'Soak',
    `Run on ${today()} with \`npm run soak -- --minutes ${values.minutes}\`, on ${machine()}: ${MODELS.length} models and 6 media types
over gRPC, at ${Math.round(100 * PART)}% of the ${most.toFixed(0)} requests a second that the same clients got without a pause. Of
${tries.toLocaleString('en')} answers ${bad.toLocaleString('en')} were not right.

![Memory, descriptors and latency by the minute](images/soak.svg)

| minute | requests | P50, ms | P95, ms | memory, MiB | descriptors |
| ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}
`,
  );
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
