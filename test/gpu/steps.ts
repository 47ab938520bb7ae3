/** The steps of `npm run gpu`, in the order of what tells most; each writes what is known by then. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { temporaryDirectory } from '../../bench/lib/temporary.ts';
import { machine, today } from '../../tools/machine.ts';
import { findDriver } from './nvidia.ts';
import { EXACT_TOLERANCE, page, type Report, type SweepTable, TF32_TOLERANCE } from './page.ts';
import { modelServer, type Serving, serve } from './served.ts';
import { type Environment, inChild } from './start-child.ts';
import type { GoldenRow, Look, MemorySettings, SweepRow } from './tasks.ts';

/** How to measure. */
export interface Options {
  readonly seconds: number;
  /** Folder for `GPU.md` and `gpu.json`; the latter goes to its `results/` where there is one. */
  readonly out: string;
  readonly allowCpu: boolean;
  readonly notes: readonly string[];
  readonly only: readonly string[] | undefined;
  /** The folder that holds `models/`, and in the repository `bench/`. */
  readonly home: string;
  /** What runs a task in a process of its own. */
  readonly program: string;
}

/** Exit statuses, as the usage tells them. */
const STATUS = { right: 0, wrong: 1, missing: 3 };
/** Windows that a run with all steps measures, with what lies between them. */
const WINDOWS = 180;
const WINDOW_SECONDS = { least: 0.2, most: 3 };

const ON_CPU: Environment = { CUDA_VISIBLE_DEVICES: '-1' };
const NO_TF32: Environment = { NVIDIA_TF32_OVERRIDE: '0' };
const XLA: Environment = { TF_XLA_FLAGS: '--tf_xla_auto_jit=2' };

/** What every step gets. */
interface Run extends Options {
  readonly report: Report;
  /** Seconds of a window. */
  readonly window: number;
  readonly models: readonly string[];
  readonly hasGpu: boolean;
  modelOf(name: string): string;
  /** Milliseconds left. */
  left(): number;
  log(text: string): void;
}

type Step = (run: Run) => Promise<void>;

/** Measures, writes the page after each step. @returns the exit status */
export async function measureAll(options: Options): Promise<number> {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1_000;
  const log = (text: string) =>
    process.stdout.write(`${elapsed().toFixed(1).padStart(6)} s  ${text}\n`);
  const report: Report = {
    date: today(),
    machine: machine(),
    notes: options.notes,
    logits: [],
    sweeps: [],
    memory: [],
    served: [],
    missing: [],
    wrong: [],
    seconds: 0,
  };
  const save = () => {
    report.seconds = elapsed();
    write(options, report, hasGpu());
  };
  const modelOf = (name: string) => join(options.home, 'models', name);
  const models = ['resnet50', 'mobilenet-uint8'].filter((name) => existsSync(modelOf(name)));
  const hasGpu = () => report.look?.devices.some(({ name }) => name.startsWith('GPU')) ?? false;
  await look(options, report, modelOf('ready-S8'), log);
  save();
  if (!report.look && report.wrong.length === 0) return said(report, log, STATUS.missing);
  if (!hasGpu() && !options.allowCpu) return said(report, log, STATUS.missing);
  const run: Run = {
    ...options,
    report,
    models,
    hasGpu: hasGpu(),
    modelOf,
    log,
    window: Math.min(
      WINDOW_SECONDS.most,
      Math.max(WINDOW_SECONDS.least, options.seconds / WINDOWS),
    ),
    left: () => options.seconds * 1_000 - (performance.now() - started),
  };
  for (const [name, step] of Object.entries(STEPS)) {
    if (options.only && !options.only.includes(name)) {
      report.missing.push(`${name}: not asked for.`);
      continue;
    }
    log(`${name} ...`);
    try {
      await step(run);
    } catch (error) {
      failed(run, name, error);
    }
    save();
  }
  if (!hasGpu()) process.stdout.write(page(report));
  const status = report.wrong.length > 0 ? STATUS.wrong : hasGpu() ? STATUS.right : STATUS.missing;
  return said(report, log, status);
}

function said(report: Report, log: Run['log'], status: number): number {
  for (const line of report.missing) log(`missing: ${line}`);
  for (const line of report.wrong) log(`wrong: ${line}`);
  return status;
}

/** A run without a GPU shows its page, and writes none. */
function write({ out }: Options, report: Report, hasGpu: boolean): void {
  if (!hasGpu) return;
  const results = join(out, 'results');
  writeFileSync(join(out, 'GPU.md'), page(report));
  const json = join(existsSync(results) ? results : out, 'gpu.json');
  writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
}

/** Of TensorFlow's log, where it finds no GPU. */
const LOG_LINES = 60;

async function look(
  options: Options,
  report: Report,
  model: string,
  log: Run['log'],
): Promise<void> {
  report.driver = findDriver();
  if (typeof report.driver === 'string') report.missing.push(`${report.driver}.`);
  else for (const gpu of report.driver.gpus) log(`${gpu.name}, driver ${report.driver.version}`);
  if (!existsSync(model)) {
    report.missing.push(
      `${model} is not here. Make the folder with test/gpu/bundle.ts, which needs Python once.`,
    );
    return;
  }
  const verbose = { TF_CPP_MIN_LOG_LEVEL: '0' };
  try {
    const { result, log: text } = await inChild<Look>(
      options.program,
      { kind: 'look', model },
      { environment: verbose },
    );
    report.look = result;
    report.missing.push(...telling(text));
    if (!result.devices.some(({ name }) => name.startsWith('GPU')))
      for (const line of text.split('\n').slice(0, LOG_LINES)) log(`TensorFlow's log: ${line}`);
    log(`TensorFlow ${result.tensorflow}: ${result.devices.map(({ name }) => name).join(', ')}`);
    log(`loaded: ${result.loaded.join(' ')}`);
    report.again = (await inChild<Look>(options.program, { kind: 'look', model })).result;
    const { library, model: loading, run } = result.seconds;
    log(`library ${library.toFixed(1)} s, model ${loading.toFixed(1)} s, run ${run.toFixed(1)} s`);
  } catch (error) {
    report.wrong.push(`TensorFlow: ${(error as Error).message}`);
  }
}

/** What TensorFlow's log says of libraries that it does not find. */
function telling(log: string): string[] {
  const lines = log
    .split('\n')
    .filter((line) => /dlopen|Could not (find|load)|Cannot|no supported|failed call/i.test(line))
    .map((line) => line.replace(/^.*?\]\s*/, '').trim());
  return [...new Set(lines)];
}

const STEPS: Readonly<Record<string, Step>> = {
  goldens,
  models: logits,
  sweeps,
  serving,
  memory,
};

async function goldens({ program, report, log }: Run): Promise<void> {
  const task = { kind: 'goldens' } as const;
  const tf32 = (await inChild<GoldenRow[]>(program, task)).result;
  const exact = (await inChild<GoldenRow[]>(program, task, { environment: NO_TF32 })).result;
  report.goldens = { tf32, exact };
  const bounded = [
    [tf32, TF32_TOLERANCE],
    [exact, EXACT_TOLERANCE],
  ] as const;
  for (const [rows, tolerance] of bounded) {
    for (const { model, largest, wrong } of rows) {
      if (wrong !== undefined) report.wrong.push(`${model}: ${wrong}`);
      if (largest > tolerance)
        report.wrong.push(`${model}: a float differs by ${largest}, more than ${tolerance}`);
    }
  }
  log(
    `${tf32.length} models, largest difference ${Math.max(...tf32.map(({ largest }) => largest))}`,
  );
}

const LOGIT_ROWS = 8;

interface LogitSetting {
  readonly name: string;
  readonly environment?: Environment;
  readonly mixedPrecision?: 'float16';
  /** As a part of the largest logit. */
  readonly tolerance: number;
}

const LOGIT_SETTINGS: readonly LogitSetting[] = [
  { name: 'float32, as TensorFlow computes (TF32)', tolerance: 1e-2 },
  { name: 'float32, NVIDIA_TF32_OVERRIDE=0', environment: NO_TF32, tolerance: 1e-4 },
  { name: 'XLA', environment: XLA, tolerance: 1e-2 },
  { name: 'float16', mixedPrecision: 'float16', tolerance: 5e-2 },
];

async function logits(run: Run): Promise<void> {
  // On a CPU float16 ends TensorFlow.
  const settings = LOGIT_SETTINGS.filter(({ mixedPrecision }) => run.hasGpu || !mixedPrecision);
  const out = join(temporaryDirectory(), 'logits');
  for (const model of run.models) {
    const expected = await logitsOf(run, model, out, { environment: ON_CPU });
    const greatest = largest(expected);
    for (const { name, tolerance, ...setting } of settings) {
      const title = `${model}, ${name}`;
      try {
        const found = await logitsOf(run, model, out, setting);
        const difference =
          largest(found.map((value, at) => value - (expected[at] ?? 0))) / greatest;
        run.report.logits.push({ model, setting: name, difference, tolerance });
        run.log(`${title}: differs by ${difference.toExponential(1)} of the largest logit`);
        // NaN is no small difference.
        if (!(difference <= tolerance)) run.report.wrong.push(`${title}: differs by ${difference}`);
      } catch (error) {
        failed(run, title, error);
      }
    }
  }
}

async function logitsOf(
  { program, modelOf }: Run,
  name: string,
  out: string,
  { environment = {}, mixedPrecision }: Omit<LogitSetting, 'name' | 'tolerance'>,
): Promise<Float32Array> {
  const settings = mixedPrecision ? { mixedPrecision } : {};
  const task = {
    kind: 'logits',
    model: modelOf(name),
    rows: LOGIT_ROWS,
    out,
    ...settings,
  } as const;
  await inChild(program, task, { environment });
  return new Float32Array(new Uint8Array(readFileSync(out)).buffer);
}

/** NaN if one is. */
function largest(values: Float32Array): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

function failed({ report, log }: Run, title: string, error: unknown): void {
  const line = `${title}: ${(error as Error).message}`;
  report.wrong.push(line);
  log(line);
}

const SIZES = [1, 4, 16, 64, 256];
/** XLA compiles each size for itself. */
const XLA_SIZES = [1, 16, 64];
const CPU_SIZES = [1, 16];

interface Setting {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly inFlight?: number;
  readonly environment?: Environment;
  readonly mixedPrecision?: 'float16' | 'bfloat16';
}

const SETTINGS: readonly Setting[] = [
  { name: 'float32 (TF32)', sizes: SIZES },
  { name: 'float16', sizes: SIZES, mixedPrecision: 'float16' },
  { name: 'float32 (TF32)', sizes: [1, 16, 64], inFlight: 2 },
  { name: 'float16', sizes: [1, 16, 64], inFlight: 2, mixedPrecision: 'float16' },
  { name: 'XLA', sizes: XLA_SIZES, environment: XLA },
  { name: 'XLA, float16', sizes: XLA_SIZES, environment: XLA, mixedPrecision: 'float16' },
  { name: 'float32, no TF32', sizes: [16, 64], environment: NO_TF32 },
  { name: 'the CPU of this machine', sizes: CPU_SIZES, environment: ON_CPU },
];

/** On a CPU float16 ends TensorFlow, and large batches take minutes. */
const CPU_SETTINGS = SETTINGS.filter(({ mixedPrecision }) => !mixedPrecision).map((setting) => ({
  ...setting,
  sizes: setting.sizes.filter((size) => size <= 4),
}));

async function sweeps(run: Run): Promise<void> {
  for (const model of run.models) {
    for (const setting of run.hasGpu ? SETTINGS : CPU_SETTINGS) await oneSweep(run, model, setting);
  }
}

async function oneSweep(run: Run, model: string, setting: Setting): Promise<void> {
  const { program, report, window, log } = run;
  const { name, sizes, inFlight = 1, environment = {}, mixedPrecision } = setting;
  const title = `${model}, ${name}, ${inFlight} at once`;
  if (run.left() < MARGIN_MS) {
    report.missing.push(`${title}: no time left.`);
    return;
  }
  const task = {
    kind: 'sweep',
    model: run.modelOf(model),
    sizes,
    inFlight,
    seconds: window,
    ...(mixedPrecision && { mixedPrecision }),
  } as const;
  try {
    const { result: rows } = await inChild<SweepRow[]>(program, task, {
      environment,
      seconds: Math.max(60, run.left() / 1_000),
    });
    const found: SweepTable = { model, setting: name, inFlight, rows };
    report.sweeps.push(found);
    const told = rows.map(
      ({ size, perSecond, failed }) => `${size}: ${failed ?? Math.round(perSecond)}`,
    );
    log(`${title}: images/s by rows ${told.join(', ')}`);
    for (const { size, failed } of rows)
      if (failed) report.wrong.push(`${title}, ${size} rows: ${failed}`);
  } catch (error) {
    failed(run, title, error);
  }
}

/** A process takes some seconds before it measures. */
const MARGIN_MS = 12_000;

const MEMORY: readonly (readonly [string, MemorySettings])[] = [
  ["TensorFlow's default", {}],
  ['a fraction of 0.5', { gpuMemoryFraction: 0.5 }],
  ['a fraction of 0.1', { gpuMemoryFraction: 0.1 }],
  ['growth', { gpuAllowGrowth: true }],
];

async function memory({ program, report, modelOf, models, log, hasGpu }: Run): Promise<void> {
  if (!hasGpu) return;
  const model = modelOf(models[0] ?? 'ready-S8');
  for (const [setting, settings] of MEMORY) {
    const { result } = await inChild<Look>(program, { kind: 'look', model, ...settings });
    const { before, after } = result.memory;
    const limit = result.devices.find(({ name }) => name.startsWith('GPU'))?.memoryBytes;
    const taken = before === undefined || after === undefined ? undefined : after - before;
    report.memory.push({ setting, limit, taken });
    log(`memory, ${setting}: limit ${limit}, taken ${taken}`);
  }
}

async function serving(run: Run): Promise<void> {
  const { report, log, window } = run;
  for (const one of servings(run)) {
    if (run.left() < MARGIN_MS) {
      report.missing.push(`${one.name}: no time left.`);
      continue;
    }
    try {
      const rows = await serve(one, window);
      report.served.push(...rows);
      for (const { inFlight, perSecond, p50 } of rows)
        log(
          `${one.name}, ${inFlight} in flight: ${perSecond.toFixed(0)} images/s, P50 ${p50.toFixed(1)} ms`,
        );
    } catch (error) {
      failed(run, one.name, error);
    }
  }
}

/** Two batches at once: one computes while the other is copied. */
const BATCHING = {
  SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
  SAGEMAKER_TFS_MAX_BATCH_SIZE: '64',
  SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '1000',
  SAGEMAKER_TFS_NUM_BATCH_THREADS: '2',
};
const IN_PROCESS = { SAGEMAKER_TFS_BACKEND: 'in-process' };
const PADDED = { SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '1,8,64' };
const FLOAT16 = { SAGEMAKER_TFS_MIXED_PRECISION: 'float16' };
const AT_ONCE = [1, 64];
const MANY = 128;

function servings({ models, modelOf, report, hasGpu }: Run): Serving[] {
  const cores = availableParallelism();
  const several = String(Math.max(2, Math.min(4, cores / 4)));
  const alone = (processes: number): Serving => ({
    name: `the front end alone, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
    model: modelOf('ready-S8'),
    environment: { ...IN_PROCESS, ...ON_CPU, SAGEMAKER_TFS_PROCESSES: String(processes) },
    inFlight: processes === 1 ? AT_ONCE : [MANY],
  });
  const server = modelServer();
  if (server === undefined) {
    report.missing.push(
      'tensorflow_model_server is not on PATH: nothing was measured over REST and gRPC. Run this in the GPU image, with LIBTENSORFLOW_PATH set.',
    );
  }
  const of = (name: string): Serving[] => {
    const way = (how: string, environment: Environment, inFlight = AT_ONCE): Serving => ({
      name: `${name}, ${how}`,
      model: modelOf(name),
      environment,
      inFlight,
    });
    return [
      way('in-process', IN_PROCESS),
      way('in-process, batching', { ...IN_PROCESS, ...BATCHING }),
      ...(hasGpu
        ? [
            way('in-process, batching, float16', { ...IN_PROCESS, ...BATCHING, ...FLOAT16 }),
            way(
              'in-process, batching, float16, XLA',
              { ...IN_PROCESS, ...BATCHING, ...FLOAT16, ...PADDED, SAGEMAKER_TFS_XLA: 'true' },
              [64],
            ),
          ]
        : []),
      way(
        `in-process, batching${hasGpu ? ', float16' : ''}, ${several} processes`,
        {
          ...IN_PROCESS,
          ...BATCHING,
          ...(hasGpu ? FLOAT16 : {}),
          SAGEMAKER_TFS_PROCESSES: several,
          SAGEMAKER_TFS_INSTANCE_COUNT: several,
        },
        [MANY],
      ),
      ...(server === undefined
        ? []
        : (['grpc', 'rest'] as const).map((backend) =>
            way(`${backend}, batching`, { SAGEMAKER_TFS_BACKEND: backend, ...BATCHING }),
          )),
    ];
  };
  return [alone(1), alone(cores), ...models.flatMap(of)];
}
