/** The tasks, in the process that was started for one of them; its result is the last line of stdout. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLibrary, loadLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import {
  isNumeric,
  type NumericTensor,
  numericTensor,
  type Tensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { median } from '../../bench/lib/median.ts';
import { firstDifference } from '../fixtures/compare.ts';
import { fixtureModels, type GoldenCase, loadGoldens } from '../fixtures/index.ts';
import { withTheirAnchors } from './equal-scores.ts';
import { findDriver, libraryVersions, loadedLibraries, memoryUsed, utilization } from './nvidia.ts';
import type {
  GoldenRow,
  GoldensTask,
  LogitsTask,
  Look,
  LookTask,
  SweepRow,
  SweepTask,
  Task,
} from './tasks.ts';

/** Runs the task. */
export async function runTask(task: Task): Promise<Look | GoldenRow[] | SweepRow[] | null> {
  const started = performance.now();
  const location = await findLibrary();
  if (!location) throw new Error('There is no libtensorflow here. Set LIBTENSORFLOW_PATH.');
  // First, because it sets up koffi; no memory of a GPU is taken yet.
  const { version } = loadLibrary(location);
  const seconds = (performance.now() - started) / 1_000;
  findDriver();
  switch (task.kind) {
    case 'look':
      return { tensorflow: version, library: location.directory, ...(await look(task, seconds)) };
    case 'goldens':
      return goldens(task);
    case 'logits':
      return logits(task);
    case 'sweep':
      return sweep(task);
  }
}

const SIGNATURE = 'serving_default';

async function look(
  { model, kind: _, ...settings }: LookTask,
  library: number,
): Promise<Omit<Look, 'tensorflow' | 'library'>> {
  const before = memoryUsed();
  const started = performance.now();
  const session = await load(model, settings);
  const atModel = performance.now();
  await session.run(SIGNATURE, pixels(1));
  const atRun = performance.now();
  const after = memoryUsed();
  return {
    devices: session.devices.map(({ name, memoryBytes }) => ({ name, memoryBytes })),
    versions: libraryVersions(),
    loaded: loadedLibraries(),
    seconds: { library, model: (atModel - started) / 1_000, run: (atRun - atModel) / 1_000 },
    memory: { ...(before !== undefined && { before }), ...(after !== undefined && { after }) },
  };
}

function load(model: string, options = {}): Promise<SavedModelSession> {
  return SavedModelSession.load(join(model, 'model', '1'), options);
}

const SIDE = 224;

/** The same pixels in every process: noise, so that no row is like another. */
function pixels(rows: number): TensorMap {
  const bytes = Buffer.alloc(rows * SIDE * SIDE * 3);
  for (let at = 0, noise = 1; at < bytes.length; at++) {
    noise = (Math.imul(noise, 1664525) + 1013904223) >>> 0;
    bytes[at] = noise >>> 24;
  }
  return { image: numericTensor('uint8', [rows, SIDE, SIDE, 3], bytes) };
}

async function goldens(_task: GoldensTask): Promise<GoldenRow[]> {
  const rows: GoldenRow[] = [];
  for (const model of fixtureModels().filter(({ loadError }) => !loadError)) {
    process.stderr.write(`golden ${model.name}\n`);
    const session = await SavedModelSession.load(model.directory);
    const compared = { cases: 0, largest: 0, wrong: undefined as string | undefined };
    for (const { signature, cases } of loadGoldens(model)) {
      for (const one of cases.filter(({ outputs }) => outputs)) {
        const { largest, wrong } = await compare(session, signature, one);
        compared.cases++;
        compared.largest = Math.max(compared.largest, largest);
        compared.wrong ??= wrong && `${signature}, ${one.name}: ${wrong}`;
      }
    }
    const { wrong, ...numbers } = compared;
    rows.push({
      model: `${model.name} ${model.version}`,
      ...numbers,
      ...(wrong !== undefined && { wrong }),
    });
  }
  return rows;
}

async function compare(
  session: SavedModelSession,
  signature: string,
  { inputs, outputs = {} }: GoldenCase,
): Promise<{ readonly largest: number; readonly wrong: string | undefined }> {
  try {
    const wanted = { outputs: Object.keys(outputs) };
    const result = await session.run(signature, inputs, wanted);
    const expected = withTheirAnchors(outputs, result.outputs);
    const largest = Object.entries(expected).map(([name, tensor]) =>
      largestDifference(result.outputs[name], tensor),
    );
    // A float's digits are what `largest` tells.
    const wrong = firstDifference(result.outputs, expected, Number.MAX_VALUE);
    return { largest: Math.max(0, ...largest), wrong };
  } catch (error) {
    return { largest: 0, wrong: (error as Error).message.slice(0, 300) };
  }
}

function largestDifference(actual: Tensor | undefined, expected: Tensor): number {
  if (!actual || !isFloat(actual) || !isFloat(expected)) return 0;
  const [a, b] = [toNumbers(actual), toNumbers(expected)];
  let largest = 0;
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [Number(a[i]), Number(b[i])];
    if (Object.is(x, y)) continue;
    largest = Math.max(largest, Math.abs(x - y) / Math.max(1, Math.abs(y)));
  }
  return largest;
}

function isFloat(tensor: Tensor): tensor is NumericTensor {
  return isNumeric(tensor) && tensor.dtype.includes('float');
}

async function logits({ model, rows, out, mixedPrecision }: LogitsTask): Promise<null> {
  const session = await load(model, mixedPrecision ? { mixedPrecision } : {});
  const { outputs } = await session.run(SIGNATURE, pixels(rows));
  const tensor = outputs.logits;
  if (!tensor || !isNumeric(tensor)) throw new Error(`${model} has no output "logits"`);
  writeFileSync(out, tensor.bytes);
  return null;
}

/** Milliseconds between two looks at how busy the GPU is; the driver itself looks every 100 or so. */
const LOOK_EVERY = 100;
const MIN_RUNS = 5;

async function sweep(task: SweepTask): Promise<SweepRow[]> {
  const { model, sizes, mixedPrecision } = task;
  const session = await load(model, mixedPrecision ? { mixedPrecision } : {});
  const rows: SweepRow[] = [];
  for (const size of sizes) {
    try {
      rows.push(await runsOf(session, size, task));
    } catch (error) {
      const failed = (error as Error).message.slice(0, 300);
      rows.push({ size, first: 0, p50: 0, perSecond: 0, failed });
      // A greater one needs more still.
      break;
    }
  }
  return rows;
}

async function runsOf(
  session: SavedModelSession,
  size: number,
  { inFlight, seconds }: SweepTask,
): Promise<SweepRow> {
  const inputs = pixels(size);
  const run = async () => {
    const from = performance.now();
    const result = await session.run(SIGNATURE, inputs);
    result.release();
    return performance.now() - from;
  };
  const first = await run();
  for (let warm = 0; warm < 2; warm++) await run();
  const looks: number[] = [];
  const timer = setInterval(() => looks.push(utilization() ?? 0), LOOK_EVERY);
  const milliseconds: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1_000;
  const loop = async () => {
    do milliseconds.push(await run());
    while (performance.now() < until || milliseconds.length < MIN_RUNS);
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const took = (performance.now() - started) / 1_000;
  clearInterval(timer);
  return {
    size,
    first: first / 1_000,
    p50: median(milliseconds),
    perSecond: (milliseconds.length * size) / took,
    ...(utilization() !== undefined && looks.length > 0 && { busy: median(looks) }),
  };
}
