/**
 * Bodies of every kind, built and changed, sent to a whole runtime with honest requests in between: nothing but 2xx and
 * 4xx comes back, every request gets an answer, the honest get theirs, no process ends, memory has an end, and nothing
 * of what was sent is in the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createModelDir,
  isAlive,
  type RuntimeProcess,
  startRuntimeProcess,
} from '@sagemaker-tfs/container/testing';
import { processTree, residentBytes } from '../../tools/process-stats.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { mutate, pick, type Random, randomOf, stretched } from './random.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets/index.ts';

/** How the runtime calls its models. */
export const BACKENDS = ['grpc', 'rest', 'in-process'] as const;

/** What is sent, and how often. */
interface EndToEndOptions {
  readonly backend: (typeof BACKENDS)[number];
  readonly inputs: number;
  readonly seed: number;
  /** Requests at a time. Default: 4. */
  readonly together?: number;
  /** Whether bodies are stretched, up to what SageMaker takes. Default: false. */
  readonly large?: boolean;
}

/** What came back. */
export interface EndToEndReport {
  readonly backend: string;
  readonly inputs: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Honest requests in between; each had its right answer. */
  readonly honest: number;
  /** Most memory of all processes, in MiB. */
  readonly peakMiB: number;
  readonly findings: readonly string[];
}

const MODELS = [
  'digits',
  'half_plus_two',
  'dtypes',
  'strings',
  'image_uint8',
  'image_nchw',
  'shapes',
];
const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  'json-lines': 'application/jsonlines',
  csv: 'text/csv',
  'csv-header': 'text/csv; header=present',
  npy: 'application/x-npy',
  npz: 'application/x-npz',
  tfrecord: 'application/x-tfrecord',
  recordio: 'application/x-recordio',
  'recordio-protobuf': 'application/x-recordio-protobuf',
  'length-prefixed': 'application/octet-stream',
  jpeg: 'application/x-image',
  png: 'application/x-image',
  webp: 'application/x-image',
  gif: 'application/x-image',
  tiff: 'application/x-image',
};
/** What no log may show, wherever a client puts it. */
export const SECRET = 'Fj3kTq9zWsecret';
const HONEST_EVERY = 25;
/** An answer that takes longer does not come. */
const PATIENCE_MS = 60_000;
/** What SageMaker takes. */
const MAX_BYTES = 25 * 1_000_000;
/** Beyond what the processes held before the first input. */
const MAX_MORE_MIB = 1_500;
const MIB = 2 ** 20;

/** A runtime with models of strings, many dtypes, channels first and pixels. */
export async function startFuzzed(
  backend: string,
): Promise<{ runtime: RuntimeProcess; stop: () => Promise<void> }> {
  const copies = Object.fromEntries(MODELS.map((name) => [name, fixtureModel(name).basePath]));
  const { directory, remove } = await createModelDir({ copies });
  const runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
    SAGEMAKER_TFS_BACKEND: backend,
  });
  const stop = async () => {
    await runtime.end('SIGKILL');
    await remove();
  };
  await runtime.ready();
  return { runtime, stop };
}

/** Sends a body. */
export async function post(
  { url }: RuntimeProcess,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    body,
    headers,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, text: await response.text() };
}

/** Starts a runtime and sends it a number of inputs. */
export async function endToEnd(options: EndToEndOptions): Promise<EndToEndReport> {
  const { backend, inputs, together = 4, large = false } = options;
  const { runtime, stop } = await startFuzzed(backend);
  const memory = watchMemory(runtime.pid);
  const statuses: Record<string, number> = {};
  const findings: string[] = [];
  let [next, honest] = [0, 0];
  const client = async () => {
    for (let index = next++; index < inputs && findings.length < 10; index = next++) {
      const found = await askOne(runtime, options, index, statuses);
      if (found) findings.push(found);
      if (index % HONEST_EVERY !== 0) continue;
      honest += 1;
      const wrong = await askHonestly(runtime);
      if (wrong) findings.push(`after input ${index}: ${wrong}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: together }, client));
    findings.push(...(await ending(runtime)));
    const { peakMiB, tooMuch } = memory.stop();
    if (tooMuch) findings.push(`the processes held ${peakMiB} MiB`);
    const name = large ? `${backend}, up to 25 MB` : backend;
    return { backend: name, inputs: Math.min(next, inputs), statuses, honest, peakMiB, findings };
  } finally {
    memory.stop();
    await stop();
  }
}

async function askOne(
  runtime: RuntimeProcess,
  { seed, large }: EndToEndOptions,
  index: number,
  statuses: Record<string, number>,
): Promise<string | undefined> {
  const random = randomOf(seed, index);
  const target = pick(
    random,
    TARGETS.filter(({ name }) => name in TYPES),
  );
  const type = TYPES[target.name] as string;
  const model = pick(random, MODELS);
  const made = await bodyOf(random, target, randomOf(seed + 1, index));
  const body = large ? stretched(random, made, MAX_BYTES) : made;
  const headers = {
    'Content-Type': type,
    'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${model}`,
    'X-Data': SECRET,
  };
  const told = `input ${index}, ${type} to ${model}, ${body.length} bytes, ${made.toString('base64').slice(0, 2_000)}`;
  try {
    const { status, text } = await post(runtime, body, headers);
    statuses[status] = (statuses[status] ?? 0) + 1;
    return status < 500 ? undefined : `${told}: ${status} ${text}`;
  } catch (error) {
    return `${told}: no answer, ${error}`;
  }
}

/** Three of four have the secret in the body, all in a header. */
async function bodyOf(random: Random, target: Target, reader: Random): Promise<Buffer> {
  const seeds = await target.seeds();
  if (random(2)) return mutate(random, seeds, [...target.tokens, SECRET, SECRET]);
  const built = await target.build(random, seeds, reader);
  if (random(2)) return built;
  const text = built.toString('latin1');
  const named = text.replace(/"(a|text)"/, `"${SECRET}"`);
  return Buffer.from(named === text ? text + SECRET : named, 'latin1');
}

async function askHonestly(runtime: RuntimeProcess): Promise<string | undefined> {
  const body = Buffer.from('{"instances":[4.0,6.0]}');
  const { status, text } = await post(runtime, body, { 'Content-Type': 'application/json' });
  return text.replace(/\s/g, '') === '{"predictions":[5.0,6.0]}' ||
    text.replace(/\s/g, '') === '{"predictions":[5,6]}'
    ? undefined
    : `an honest request got ${status} ${text}`;
}

/** What the log says, and whether the processes are there. */
async function ending(runtime: RuntimeProcess): Promise<string[]> {
  // Its last lines are on their way.
  await sleep(200);
  const log = runtime.output();
  const crash = /.*(Check failed|SIGABRT|SIGSEGV|process ended|uncaught).*/i.exec(log)?.[0];
  const leak = log.split('\n').find((line) => line.includes(SECRET));
  return [
    ...(isAlive(runtime.pid) ? [] : ['the runtime has ended']),
    ...(crash ? [`the log says ${crash.slice(0, 500)}`] : []),
    ...(leak ? [`the log holds what was sent: ${leak.slice(0, 500)}`] : []),
  ];
}

function watchMemory(pid: number) {
  const held = () => processTree(pid).reduce((sum, one) => sum + residentOf(one), 0) / MIB;
  const before = held();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, held());
  }, 250);
  return {
    stop: () => {
      clearInterval(timer);
      return { peakMiB: Math.round(peak), tooMuch: peak > before + MAX_MORE_MIB };
    },
  };
}

function residentOf(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    // It has ended.
    return 0;
  }
}
