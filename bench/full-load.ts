/**
 * The load of batch transform, whole: 10,000 pictures, 64 in flight, a model of 50 ms, probes, loads and unloads. Each way
 * to serve them takes turns with one that has no limit, so that what else the machine does meets both.
 */
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chooseModelServer } from 'sagemaker-tfs/development/serving';
import type { Bench, BenchContext, Findings, ResultTable, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startRuntimeOn } from './lib/front-ends.ts';
import { writeManyPictures } from './lib/many-pictures.ts';
import { median } from './lib/median.ts';
import { ensureModel } from './lib/models.ts';
import { ROOT } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const COUNT = { full: 10_000, quick: 1_000 };
const CLIENTS = 64;
const MODEL_MS = 50;
/** Turns of a way and of the one without a limit. */
const TURNS = 10;
/** Pictures before the first turn. */
const WARM_UP = 500;
/** `--grpc_max_threads` of TensorFlow Serving on 8 CPUs: 31 calls, and a thread that waits. */
const QUOTA = 32;
/** Threads of the model server for calls that wait in the model. */
const RUNS = 128;
const PING_EVERY_MS = 20;
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
  { name: 'As installed: 64 calls at once' },
  { name: 'Quota of 31 calls, 30 at once', calls: 30, quota: QUOTA },
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
    const compared: Compared[] = [];
    for (const way of WAYS) compared.push(await compare(context, way, pictures));
    const measured = compared.flatMap(({ unlimited, own }) => [unlimited, own]);
    return {
      tables: [tableOf(compared)],
      targets: [
        atMost('answers other than 200', measured, ({ refused }) => refused),
        atMost('/ping answers other than 200', measured, ({ pingsRefused }) => pingsRefused),
        {
          what: `Batch at ${CLIENTS} in flight, a model of ${MODEL_MS} ms, as installed: pictures/s against no limit`,
          bound: 'at least',
          target: 0.95,
          measured: compared[0]?.ratio ?? Number.NaN,
          unit: 'x',
        },
      ],
      notes: [
        `${count.toLocaleString('en-US')} different JPEGs (64x64), ${CLIENTS} in flight, each its own request; the model is that of \`examples/tiles\` behind an operator that sleeps for ${MODEL_MS} ms, with its thread, as a model on a GPU would. Each way takes ${TURNS} turns with a runtime that has no limit, and the ratio is the median of the turns. \`/ping\` is asked every ${PING_EVERY_MS} ms. A quota of 31 is TensorFlow Serving's own default on 8 CPUs (\`--grpc_max_threads=32\`): it bounds such a model to 31 calls in ${MODEL_MS} ms, 620 a second, whatever stands in front of it.`,
      ],
    };
  },
};

interface Measured {
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly refused: number;
  readonly pings: number;
  readonly pingsRefused: number;
  readonly slowestPing: number;
}

/** A way and the one without a limit, of the same moments. */
interface Compared {
  readonly way: Way;
  readonly own: Measured;
  readonly unlimited: Measured;
  /** Of the rates, the median of the turns. */
  readonly ratio: number;
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

/** Answers and probes of one turn. */
interface Turn {
  readonly seconds: number;
  readonly answers: readonly Answer[];
  readonly pings: readonly Answer[];
}

async function compare(
  context: BenchContext,
  way: Way,
  pictures: readonly Buffer[],
): Promise<Compared> {
  const unlimited = await begin(UNLIMITED);
  try {
    const own = await begin(way);
    try {
      const compared = await takeTurns(way, unlimited, own, pictures);
      const { ratio, own: one, unlimited: other } = compared;
      context.log(
        `${way.name}: ${one.rate.toFixed(0)} pictures/s, ${ratio.toFixed(3)}x of ${other.rate.toFixed(0)}, ${one.refused} refused, ${one.pingsRefused} of ${one.pings} pings refused`,
      );
      return compared;
    } finally {
      await own.stop();
    }
  } finally {
    await unlimited.stop();
  }
}

async function takeTurns(
  way: Way,
  unlimited: Subject,
  own: Subject,
  pictures: readonly Buffer[],
): Promise<Compared> {
  for (const one of [unlimited, own]) await sendAll(pictures.slice(0, WARM_UP), one.post);
  const running = new AbortController();
  const changing = way.multiModel ? own.changeModels(running.signal) : undefined;
  const turns: { unlimited: Turn; own: Turn }[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const [from, to] = [turn, turn + 1].map((part) => (pictures.length * part) / TURNS);
    const part = pictures.slice(from, to);
    const first = turn % 2 === 0 ? await takeTurn(unlimited, part) : undefined;
    const second = await takeTurn(own, part);
    turns.push({ unlimited: first ?? (await takeTurn(unlimited, part)), own: second });
  }
  running.abort();
  return {
    way,
    own: summaryOf(turns.map((turn) => turn.own)),
    unlimited: summaryOf(turns.map((turn) => turn.unlimited)),
    ratio: median(turns.map((turn) => turn.unlimited.seconds / turn.own.seconds)),
    changes: await changing,
  };
}

async function takeTurn({ frontEnd, post }: Subject, pictures: readonly Buffer[]): Promise<Turn> {
  const running = new AbortController();
  const pinging = askPing(frontEnd, running.signal);
  const began = performance.now();
  const answers = await sendAll(pictures, post);
  const seconds = (performance.now() - began) / 1_000;
  running.abort();
  return { seconds, answers, pings: await pinging };
}

function summaryOf(turns: readonly Turn[]): Measured {
  const answers = turns.flatMap((turn) => turn.answers);
  const pings = turns.flatMap((turn) => turn.pings);
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    rate: answers.length / turns.reduce((sum, { seconds }) => sum + seconds, 0),
    p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
    refused: answers.filter(({ status }) => status !== 200).length,
    pings: pings.length,
    pingsRefused: pings.filter(({ status }) => status !== 200).length,
    slowestPing: Math.max(...pings.map(({ ms }) => ms)),
  };
}

/** A runtime under load. */
interface Subject {
  readonly frontEnd: FrontEnd;
  post(body: Buffer): Promise<Answer>;
  /** Loads and unloads another model until it is stopped. @returns how often */
  changeModels(signal: AbortSignal): Promise<number>;
  stop(): Promise<void>;
}

async function begin(way: Way): Promise<Subject> {
  const directory = temporaryDirectory();
  const frontEnd = await start(way, directory);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const path = way.multiModel ? '/models/tiles/invoke' : '/invocations';
  if (way.multiModel) await load(frontEnd, join(directory, 'tiles'));
  return {
    frontEnd,
    post: (body) => ask(frontEnd, path, agent, body),
    changeModels: (signal) => changeModels(frontEnd, join(directory, 'half'), signal),
    async stop() {
      agent.destroy();
      await frontEnd.stop();
      removeDirectory(directory);
    },
  };
}

/**
 * The runtime with its model server, a real one where PATH has it. Flags go behind those that
 * the runtime sets: the last counts.
 */
async function start({ calls, quota, multiModel }: Way, directory: string): Promise<FrontEnd> {
  const model = join(await ensureModel('waiting-tiles'), 'model');
  cpSync(model, join(directory, 'tiles', 'tiles'), { recursive: true });
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'tensorflow_model_server');
  const { path } = await chooseModelServer();
  const threads = quota === undefined ? '' : ` --grpc_max_threads=${quota}`;
  const last = `--tensorflow_inter_op_parallelism=${RUNS}${threads}`;
  writeFileSync(
    program,
    `#!/bin/sh\nPATH='${path}' UV_THREADPOOL_SIZE=${RUNS + 1} exec tensorflow_model_server "$@" ${last}\n`,
  );
  chmodSync(program, 0o755);
  if (multiModel) cpSync(HALF, join(directory, 'half', 'half'), { recursive: true });
  return startRuntimeOn(multiModel ? directory : join(directory, 'tiles'), {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
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

/** @throws Error where a load or an unload is refused */
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

function tableOf(compared: readonly Compared[]): ResultTable {
  const rows = compared.flatMap(({ way, own, unlimited, ratio, changes }, index): Row[] => [
    ...(index === 0 ? [{ ...unlimited, name: UNLIMITED.name, ratio: 1 }] : []),
    { ...own, name: way.name, ratio, ...(changes !== undefined && { changes }) },
  ]);
  return {
    title: `${CLIENTS} in flight, a model of ${MODEL_MS} ms`,
    columns: columns({
      name: 'Model server',
      rate: 'Pictures/s',
      ratio: 'Against no limit, in turns',
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
