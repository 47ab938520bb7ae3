/** Runs the faults of one stage on a runtime of its own. */
import { chmodSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chooseModelServer, prepareModelRoot } from 'sagemaker-tfs/development/serving';
import { startClients } from './clients.ts';
import { fakeTime, fakeTimeLibrary } from './clock.ts';
import type { Fault, Ground, Stage } from './ground.ts';
import { isLate, type PingTimes, startPings } from './pings.ts';
import type { Question } from './question.ts';
import { digitQuestions } from './questions.ts';
import { type Backend, PROXY_PROGRAM, type Served, startServed } from './served.ts';
import { mountSmallDisk } from './small-disk.ts';
import { type Counts, Tally } from './tally.ts';

/** A line of the table. */
export interface Row {
  readonly fault: string;
  readonly backend: Backend;
  readonly clients: number;
  /** Why it was not tried. */
  readonly skipped?: string;
  /** Why there is nothing to try. */
  readonly inapplicable?: string;
  /** Milliseconds of the slowest `/ping` meanwhile. */
  readonly pingMs?: number;
  /** Share of a processor that a process got meanwhile. */
  readonly share?: number;
  /** Whether `/ping` must be answered in time, and was not. */
  readonly isPingLate?: boolean;
  readonly counts?: Counts;
  /** Most resident bytes of all processes of the runtime. */
  readonly memoryBytes?: number;
}

/** How much is done. */
export interface Effort {
  readonly clients: number;
  /** Repetitions, or seconds, of each fault. */
  readonly times: number;
  /** How long an overload lasts, in ms. */
  readonly overloadMs: number;
  readonly onRow: (row: Row) => void;
}

const MODEL = resolve('examples/digits');
const SAMPLE_MS = 200;
/** Right answers before a fault: every client is at work. */
const BEFORE = 64;
const ENVIRONMENT = {
  // Shorter than the clients' patience.
  SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '10',
  SAGEMAKER_TFS_WAIT_TIME_SECONDS: '60',
  LOCAL_MODEL_SERVER_POLL_MS: '100',
};

/** Runs them all. */
export async function runStage(stage: Stage, backend: Backend, effort: Effort): Promise<Row[]> {
  const work = await mkdtemp(join(tmpdir(), 'faults-'));
  try {
    const prepared = await prepare(stage, work);
    if ('skipped' in prepared)
      return stage.faults.map((fault) => skip(fault, backend, prepared.skipped, effort));
    try {
      return await onRuntime(stage, backend, effort, work, prepared);
    } finally {
      prepared.tearDown();
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface Prepared {
  readonly environment: Readonly<Record<string, string>>;
  readonly programs?: string;
  tearDown(): void;
}

const inWork = (work: string) => ({
  control: join(work, 'control'),
  clock: join(work, 'clock'),
  disk: join(work, 'disk'),
  programs: join(work, 'bin'),
});

async function prepare({ uses }: Stage, work: string): Promise<Prepared | { skipped: string }> {
  const { control, clock, disk, programs } = inWork(work);
  const tearDown = () => undefined;
  writeFileSync(control, 'pass');
  await mkdir(disk);
  if (uses === 'proxy') {
    await mkdir(programs);
    const wrapper = join(programs, 'tensorflow_model_server');
    writeFileSync(wrapper, `#!/bin/sh\nexec '${process.execPath}' '${PROXY_PROGRAM}' "$@"\n`);
    chmodSync(wrapper, 0o755);
    const { program } = await chooseModelServer();
    const environment = { FAULTS_CONTROL: control, FAULTS_MODEL_SERVER: program };
    return { environment, programs, tearDown };
  }
  if (uses === 'small disk') {
    const mounted = mountSmallDisk(disk);
    if (!mounted) return { skipped: 'a small file system can be mounted by root only' };
    return { environment: { TMPDIR: disk }, tearDown: mounted.unmount };
  }
  if (uses === 'clock') {
    const library = fakeTimeLibrary();
    if (!library) return { skipped: 'libfaketime is not installed' };
    return { environment: fakeTime(library, clock), tearDown };
  }
  return { environment: {}, tearDown };
}

function skip({ name, clients }: Fault, backend: Backend, skipped: string, effort: Effort): Row {
  const row = { fault: name, backend, clients: clients ?? effort.clients, skipped };
  effort.onRow(row);
  return row;
}

function inapplicable({ name, clients = 0 }: Fault, backend: Backend, effort: Effort): Row {
  const why = 'there is no model server';
  return { fault: name, backend, clients: clients || effort.clients, inapplicable: why };
}

async function onRuntime(
  stage: Stage,
  backend: Backend,
  effort: Effort,
  work: string,
  prepared: Prepared,
): Promise<Row[]> {
  const several = stage.uses === 'several models';
  const { modelDirectory, basePath } = await layOut(work, stage.uses);
  const served = await startServed({
    modelDirectory,
    backend,
    environment: {
      ...ENVIRONMENT,
      ...(several && {
        SAGEMAKER_MULTI_MODEL: 'true',
        SAGEMAKER_TFS_MULTI_MODEL_DIR: modelDirectory,
      }),
      ...prepared.environment,
      ...stage.environment,
    },
    ...(prepared.programs && { programs: prepared.programs }),
    ...(stage.descriptors && { descriptors: stage.descriptors }),
  });
  try {
    const questions = await questionsFor(served, stage.uses, basePath);
    const { control, clock, disk } = inWork(work);
    const ground = {
      served,
      questions,
      basePath,
      clock,
      smallDisk: disk,
      times: effort.times,
      overloadMs: effort.overloadMs,
      between: (mode: string) => writeFileSync(control, mode),
    };
    const rows: Row[] = [];
    for (const fault of stage.faults) {
      const isInapplicable = fault.needs === 'model server' && backend === 'in-process';
      rows.push(
        isInapplicable
          ? inapplicable(fault, backend, effort)
          : await runFault(fault, backend, ground, effort),
      );
      effort.onRow(rows.at(-1) as Row);
    }
    return rows;
  } finally {
    await served.stop();
  }
}

/** A copy that may be spoiled. */
async function layOut(work: string, uses: Stage['uses']) {
  const modelDirectory = join(work, 'model');
  const root = await prepareModelRoot(join(MODEL, 'model'), join(MODEL, 'inference.ts'));
  try {
    const several = uses === 'several models';
    await cp(root.directory, several ? join(modelDirectory, 'digits', 'model') : modelDirectory, {
      recursive: true,
    });
  } finally {
    await root.cleanUp();
  }
  return { modelDirectory, basePath: await basePathIn(modelDirectory) };
}

async function basePathIn(directory: string): Promise<string> {
  const names = await readdir(directory, { recursive: true });
  const found = names.find((name) => name.endsWith('saved_model.pb'));
  if (found === undefined) throw new Error(`no SavedModel in ${directory}`);
  return join(directory, found, '..', '..');
}

async function questionsFor(
  { url }: Served,
  uses: Stage['uses'],
  basePath: string,
): Promise<readonly Question[]> {
  if (uses !== 'several models') return digitQuestions(url);
  const body = JSON.stringify({ model_name: 'digits', url: basePath });
  const { status } = await fetch(`${url}/models`, { method: 'POST', body });
  if (status !== 200) throw new Error(`the model is not loaded: ${status}`);
  return digitQuestions(url, '/models/digits/invoke');
}

async function runFault(
  fault: Fault,
  backend: Backend,
  given: Omit<Ground, 'tally'>,
  effort: Effort,
): Promise<Row> {
  const { served, questions } = given;
  const tally = new Tally(fault.allowed);
  const count = fault.clients ?? effort.clients;
  const { connections = 'mixed' } = fault;
  const cutBefore = cutAnswers(served);
  let memoryBytes = 0;
  const sampler = setInterval(() => {
    memoryBytes = Math.max(memoryBytes, served.memoryBytes());
  }, SAMPLE_MS);
  const clients = startClients({ url: served.url, questions, count, connections }, tally);
  let pings: PingTimes;
  try {
    await tally.untilRight(BEFORE);
    const pinger = await startPings(served.url, connections);
    try {
      await fault.happen({ ...given, tally });
    } finally {
      pings = await pinger.stop();
    }
  } finally {
    await clients.stop();
    clearInterval(sampler);
  }
  const cut = fault.endsContainer ? Number.POSITIVE_INFINITY : cutAnswers(served) - cutBefore;
  const counts = tally.counts(cut);
  const isPingLate = fault.keepsPing === true && isLate(pings);
  const { slowestMs: pingMs, share } = pings;
  const row = { fault: fault.name, backend, clients: count, counts, memoryBytes };
  return { ...row, pingMs, share, isPingLate };
}

/** Answers that a worker was writing when it was killed. */
function cutAnswers({ log }: Served): number {
  return log().reduce((sum, { cut }) => sum + (typeof cut === 'number' ? cut : 0), 0);
}
