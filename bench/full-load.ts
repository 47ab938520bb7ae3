/** The load of batch transform, whole: 10,000 pictures, 64 in flight, a model of 50 ms, probes, loads and unloads. */
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, BenchContext, Findings, ResultTable, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startRuntimeOn } from './lib/front-ends.ts';
import { writeManyPictures } from './lib/many-pictures.ts';
import { ROOT } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const COUNT = { full: 10_000, quick: 1_000 };
const CLIENTS = 64;
const MODEL_MS = 50;
/** `--grpc_max_threads` of TensorFlow Serving on 8 CPUs: 31 calls, and a thread that waits. */
const QUOTA = 32;
const PING_EVERY_MS = 20;
const TILES = join(ROOT, 'examples', 'tiles', 'model');
const HALF = join(ROOT, 'test', 'fixtures', 'models', 'half_plus_two');

/** One way to serve them. */
interface Way {
  readonly name: string;
  /** `SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT`; the runtime's own where it is undefined. */
  readonly calls?: number;
  /** What the model server's threads are cut to, whatever the runtime asks for. */
  readonly quota?: number;
  /** Whether other models come and go meanwhile. */
  readonly multiModel?: boolean;
}

const UNLIMITED: Way = { name: 'No limit: 1,024 calls at once', calls: 1_024 };
const WAYS: readonly Way[] = [
  UNLIMITED,
  { name: 'As installed: 64 calls at once' },
  { name: 'Quota of 31 calls, 28 at once', calls: 28, quota: QUOTA },
  { name: 'Quota of 31 calls, 64 at once: refused and sent again', quota: QUOTA },
  { name: 'Multi-model, another model loaded and unloaded', multiModel: true },
];

export const fullLoad: Bench = {
  name: 'full-load',
  question:
    'Does batch transform at 64 in flight lose a picture where the model server refuses calls?',
  async run(context): Promise<Findings> {
    const count = context.pictures ?? (context.quick ? COUNT.quick : COUNT.full);
    const pictures = await somePictures(count);
    const measured: Measured[] = [];
    for (const way of WAYS) measured.push(await measure(context, way, pictures));
    const [unlimited, installed] = measured as [Measured, Measured];
    return {
      tables: [tableOf(measured, unlimited)],
      targets: [
        atMost('answers other than 200', measured, ({ refused }) => refused),
        atMost('/ping answers other than 200', measured, ({ pingsRefused }) => pingsRefused),
        {
          what: `Batch at ${CLIENTS} in flight, a model of ${MODEL_MS} ms, as installed: pictures/s against no limit`,
          bound: 'at least',
          target: 0.95,
          measured: installed.rate / unlimited.rate,
          unit: 'x',
        },
      ],
      notes: [
        `${count.toLocaleString('en-US')} different JPEGs (64x64), ${CLIENTS} in flight, each its own request; the model is that of \`examples/tiles\`, and the local model server keeps every call for ${MODEL_MS} ms more, with its thread, as a model on a GPU would. \`/ping\` is asked every ${PING_EVERY_MS} ms. A quota of 31 is TensorFlow Serving's own default on 8 CPUs (\`--grpc_max_threads=32\`): it bounds such a model to 31 calls in 50 ms, 620 a second, whatever stands in front of it.`,
      ],
    };
  },
};

interface Measured {
  readonly way: Way;
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly refused: number;
  readonly pings: number;
  readonly pingsRefused: number;
  readonly slowestPing: number;
  /** Loads and unloads. */
  readonly changes: number | undefined;
}

function atMost(what: string, measured: readonly Measured[], of: (one: Measured) => number) {
  return {
    what: `${what[0]?.toUpperCase()}${what.slice(1)} under that load, in all ways of serving it`,
    bound: 'at most',
    target: 0,
    measured: measured.reduce((sum, one) => sum + of(one), 0),
    unit: 'answers',
  } as const;
}

async function somePictures(count: number): Promise<Buffer[]> {
  const directory = temporaryDirectory();
  try {
    await writeManyPictures(directory, count, 0);
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    const pictures = files.filter((file) => file.endsWith('.jpg'));
    return pictures.map((file) => readFileSync(join(directory, file)));
  } finally {
    removeDirectory(directory);
  }
}

async function measure(context: BenchContext, way: Way, pictures: readonly Buffer[]) {
  const directory = temporaryDirectory();
  const frontEnd = await start(way, directory);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    const path = way.multiModel ? '/models/tiles/invoke' : '/invocations';
    if (way.multiModel) await load(frontEnd, join(directory, 'tiles'));
    const post = (body: Buffer) => ask(frontEnd, path, agent, body);
    await sendAll(pictures.slice(0, 500), post);
    const running = new AbortController();
    const changing = way.multiModel
      ? changeModels(frontEnd, join(directory, 'half'), running.signal)
      : undefined;
    const pinging = askPing(frontEnd, running.signal);
    const began = performance.now();
    const answers = await sendAll(pictures, post);
    const seconds = (performance.now() - began) / 1_000;
    running.abort();
    const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
    const pings = await pinging;
    const measured: Measured = {
      way,
      rate: pictures.length / seconds,
      p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
      p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
      refused: answers.filter(({ status }) => status !== 200).length,
      pings: pings.length,
      pingsRefused: pings.filter(({ status }) => status !== 200).length,
      slowestPing: Math.max(...pings.map(({ ms }) => ms)),
      changes: await changing,
    };
    context.log(
      `${way.name}: ${measured.rate.toFixed(0)} pictures/s, ${measured.refused} refused, ${measured.pingsRefused} of ${measured.pings} pings refused`,
    );
    return measured;
  } finally {
    agent.destroy();
    await frontEnd.stop();
    removeDirectory(directory);
  }
}

/** The runtime, with the quota put behind the flags that it sets for the model server. */
function start({ calls, quota, multiModel }: Way, directory: string): Promise<FrontEnd> {
  cpSync(TILES, join(directory, 'tiles', 'tiles'), { recursive: true });
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'tensorflow_model_server');
  const rest = `${join(ROOT, 'local-model-server', 'bin')}${delimiter}${process.env.PATH}`;
  const last = quota === undefined ? '' : ` --grpc_max_threads=${quota}`;
  const text = `#!/bin/sh\nPATH='${rest}' exec tensorflow_model_server "$@"${last}\n`;
  writeFileSync(program, text);
  chmodSync(program, 0o755);
  if (multiModel) cpSync(HALF, join(directory, 'half', 'half'), { recursive: true });
  return startRuntimeOn(multiModel ? directory : join(directory, 'tiles'), {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    LOCAL_MODEL_SERVER_DELAY_MS: String(MODEL_MS),
    ...(calls !== undefined && { SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: String(calls) }),
    ...(multiModel && {
      SAGEMAKER_MULTI_MODEL: 'true',
      SAGEMAKER_TFS_MULTI_MODEL_DIR: directory,
    }),
  });
}

interface Answer {
  readonly status: number;
  readonly ms: number;
}

async function ask(
  { url }: FrontEnd,
  path: string,
  agent: Agent,
  body: Buffer,
  headers = { 'content-type': 'application/x-image' },
): Promise<Answer> {
  const began = performance.now();
  const sent = request(`${url}${path}`, { method: 'POST', agent, headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode ?? 0, ms: performance.now() - began };
}

async function sendAll(
  bodies: readonly Buffer[],
  post: (body: Buffer) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const left = bodies.values();
  const client = async () => {
    for (const body of left) answers.push(await post(body));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return answers;
}

async function askPing({ url }: FrontEnd, signal: AbortSignal): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (!signal.aborted) {
    const began = performance.now();
    const response = await fetch(`${url}/ping`);
    await response.arrayBuffer();
    answers.push({ status: response.status, ms: performance.now() - began });
    await delay(PING_EVERY_MS);
  }
  return answers;
}

/** Loads and unloads a model until it is stopped. @returns how often; throws where one is refused */
async function changeModels(
  frontEnd: FrontEnd,
  directory: string,
  signal: AbortSignal,
): Promise<number> {
  let changes = 0;
  for (; !signal.aborted; changes += 2) {
    await load(frontEnd, directory);
    await change(frontEnd, 'DELETE', `/models/${basename(directory)}`);
  }
  return changes;
}

function load(frontEnd: FrontEnd, directory: string): Promise<void> {
  const body = JSON.stringify({ model_name: basename(directory), url: directory });
  return change(frontEnd, 'POST', '/models', body);
}

async function change({ url }: FrontEnd, method: string, path: string, body?: string) {
  const response = await fetch(`${url}${path}`, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
}

function tableOf(measured: readonly Measured[], unlimited: Measured): ResultTable {
  const rows = measured.map(
    ({ way, changes, ...one }): Row => ({
      ...one,
      name: way.name,
      ratio: one.rate / unlimited.rate,
      changes,
    }),
  );
  return {
    title: `${CLIENTS} in flight, a model of ${MODEL_MS} ms`,
    columns: columns({
      name: 'Model server',
      rate: 'Pictures/s',
      ratio: 'Against no limit',
      p50: 'P50 ms',
      p95: 'P95 ms',
      refused: 'Answers other than 200',
      pings: '`/ping` asked',
      pingsRefused: 'of these not 200',
      slowestPing: 'Slowest `/ping`, ms',
      changes: 'Loads and unloads',
    }),
    rows,
  };
}
