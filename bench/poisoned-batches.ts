/** What callers lose to one whose requests fail in the model, with batching and without. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, BenchContext, Findings, ResultTable, Target } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startRuntimeOn } from './lib/front-ends.ts';
import { ROOT } from './lib/programs.ts';
import { temporaryDirectory } from './lib/temporary.ts';

const MODEL = join(ROOT, 'test', 'fixtures', 'models', 'half_plus_two');
const CLIENTS = 16;
/** Failing requests a second. */
const ATTACKS = [0, 20, 200];
const WARM_UP_SECONDS = 2;
/** Windows of a measurement: a failing request now and then needs time to meet the others. */
const WINDOWS = 8;

const BATCHING = { SAGEMAKER_TFS_ENABLE_BATCHING: 'true' };
const WAYS = [
  { name: 'gRPC, no batching', environment: {} },
  { name: 'gRPC, joined up to 8', environment: BATCHING },
  { name: 'REST, joined up to 8', environment: { ...BATCHING, SAGEMAKER_TFS_BACKEND: 'rest' } },
];

/** Answers to the honest callers. */
interface Measured {
  readonly name: string;
  readonly attacks: number;
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly notRight: number;
}

export const poisonedBatches: Bench = {
  name: 'poisoned-batches',
  question: 'What do callers lose to one whose requests fail in the model?',
  async run(context): Promise<Findings> {
    const measured: Measured[] = [];
    for (const { name, environment } of WAYS) {
      const directory = temporaryDirectory();
      cpSync(MODEL, join(directory, 'half_plus_two'), { recursive: true });
      const frontEnd = await startRuntimeOn(directory, environment);
      try {
        await load(frontEnd, 0, WARM_UP_SECONDS);
        for (const attacks of ATTACKS) {
          const one = summaryOf(
            name,
            attacks,
            await load(frontEnd, attacks, WINDOWS * context.seconds),
          );
          logMeasured(context, one);
          measured.push(one);
        }
      } finally {
        await frontEnd.stop();
      }
    }
    return {
      tables: [tableOf(measured)],
      targets: [allRight(measured)],
      notes: [
        `${CLIENTS} callers ask \`classify_x_to_y\` of half_plus_two with a tf.Example of their own, each when it has its answer, and compare the answer; one more sends bytes that are no tf.Example, which this signature parses in the graph. A batch that holds one of them fails.`,
      ],
    };
  },
};

function allRight(measured: readonly Measured[]): Target {
  return {
    what: 'Answers to honest callers that are not theirs or not 200, whatever others send',
    bound: 'at most',
    target: 0,
    measured: measured.reduce((sum, { notRight }) => sum + notRight, 0),
    unit: 'answers',
  };
}

interface Answer {
  readonly isRight: boolean;
  readonly ms: number;
}

interface Load {
  readonly seconds: number;
  readonly answers: readonly Answer[];
}

async function load(frontEnd: FrontEnd, attacks: number, seconds: number): Promise<Load> {
  const began = performance.now();
  const isOver = () => performance.now() - began > seconds * 1_000;
  const answers: Answer[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, value) => {
    while (!isOver()) answers.push(await askHonest(frontEnd, value));
  });
  const attacker = attack(frontEnd, attacks, isOver);
  await Promise.all(clients);
  const taken = (performance.now() - began) / 1_000;
  await attacker;
  return { seconds: taken, answers };
}

/** Sends at a steady rate, without waiting for answers. */
async function attack(frontEnd: FrontEnd, rate: number, isOver: () => boolean): Promise<void> {
  if (rate === 0) return;
  const began = performance.now();
  const sent: Promise<unknown>[] = [];
  while (!isOver()) {
    const due = ((performance.now() - began) / 1_000) * rate;
    while (sent.length < due) sent.push(ask(frontEnd, Buffer.from('no tf.Example')));
    await delay(5);
  }
  await Promise.all(sent);
}

async function askHonest(frontEnd: FrontEnd, value: number): Promise<Answer> {
  const began = performance.now();
  const { status, text } = await ask(frontEnd, exampleOf(value));
  const expected = [[value / 2 + 2 + 1]];
  const isRight =
    status === 200 &&
    JSON.stringify((JSON.parse(text) as { predictions: unknown }).predictions) ===
      JSON.stringify(expected);
  return { isRight, ms: performance.now() - began };
}

async function ask({ url }: FrontEnd, example: Uint8Array) {
  const b64 = Buffer.from(example).toString('base64');
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ signature_name: 'classify_x_to_y', instances: [{ b64 }] }),
  });
  return { status: response.status, text: await response.text() };
}

/** `{x: value}` as a tf.Example: Features > Feature > FloatList (example.proto). */
function exampleOf(value: number): Uint8Array {
  const float = Buffer.alloc(4);
  float.writeFloatLE(value);
  const field = (tag: number, ...parts: Uint8Array[]) => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  };
  const list = field(0x12, field(0x0a, float));
  return field(0x0a, field(0x0a, field(0x0a, Buffer.from('x')), field(0x12, list)));
}

function summaryOf(name: string, attacks: number, { seconds, answers }: Load): Measured {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    name,
    attacks,
    rate: answers.length / seconds,
    p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
    notRight: answers.filter(({ isRight }) => !isRight).length,
  };
}

function logMeasured(context: BenchContext, { name, attacks, rate, p95, notRight }: Measured) {
  context.log(
    `${name}, ${attacks} failing requests/s: ${rate.toFixed(0)} honest answers/s, P95 ${p95.toFixed(1)} ms, ${notRight} not right`,
  );
}

function tableOf(measured: readonly Measured[]): ResultTable {
  return {
    title: `Honest answers, ${CLIENTS} callers`,
    columns: columns({
      name: 'Way',
      attacks: 'Failing requests/s',
      rate: 'Answers/s',
      ratio: 'To no failing ones',
      p50: 'P50 ms',
      p95: 'P95 ms',
      notRight: 'Not right',
    }),
    rows: measured.map((one) => {
      const quiet = measured.find(({ name, attacks }) => name === one.name && attacks === 0);
      return { ...one, ratio: `${(one.rate / (quiet?.rate ?? Number.NaN)).toFixed(2)}x` };
    }),
  };
}
