/** The front ends that are compared, each before the same canned model server or with a real model. */
import { cpSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort, startRuntime } from 'sagemaker-tfs/development/serving';
import { answering, endChild, startChild } from '../../tools/children.ts';
import { commandOf, processTree } from '../../tools/process-stats.ts';
import { type BenchModel, ensureModel } from './models.ts';
import { programPath, ROOT } from './programs.ts';
import { ensurePythonFrontEnd } from './python.ts';
import { removeDirectory, temporaryDirectory } from './temporary.ts';

const cannedBin = join(ROOT, 'bench', 'canned', 'bin');

/** A front end that answers `/invocations`. */
export interface FrontEnd {
  readonly url: string;
  /** Where requests go. Default: `/invocations`. */
  readonly path?: string;
  /** Process ids of the front end alone, without the model server behind it. */
  pids(): number[];
  /** Process ids of the front end and the model server behind it. */
  allPids(): number[];
  stop(): Promise<void>;
}

type Variables = Readonly<Record<string, string>>;

/** Our runtime before the canned model server. */
export function startOurs(canned: string, environment: Variables = {}): Promise<FrontEnd> {
  const directory = temporaryDirectory();
  // The runtime finds a model here, and the canned server never opens it.
  mkdirSync(join(directory, 'model', '1'), { recursive: true });
  writeFileSync(join(directory, 'model', '1', 'saved_model.pb'), '');
  const PATH = `${cannedBin}${delimiter}${process.env.PATH}`;
  return startRuntimeOn(directory, { PATH, CANNED_CASE: canned, ...environment });
}

/** Our runtime with a real model: TensorFlow Serving where it is installed, else the local model server. */
export async function startReal(model: BenchModel, environment: Variables = {}): Promise<FrontEnd> {
  const directory = temporaryDirectory();
  cpSync(await ensureModel(model), directory, { recursive: true });
  return startRuntimeOn(directory, environment);
}

/** Our runtime on a directory that it may have for itself, removed in the end. */
export async function startRuntimeOn(directory: string, environment: Variables): Promise<FrontEnd> {
  try {
    const runtime = await startRuntime({
      modelDirectory: directory,
      log: join(directory, 'runtime.log'),
      environment: { SAGEMAKER_TFS_LOG_LEVEL: 'warn', ...environment },
    });
    const allPids = () => processTree(runtime.pid);
    return {
      url: runtime.url,
      allPids,
      pids: () => allPids().filter((pid) => !commandOf(pid).includes('tensorflow_model_server')),
      async stop() {
        await runtime.stop();
        removeDirectory(directory);
      },
    };
  } catch (error) {
    removeDirectory(directory);
    throw error;
  }
}

/** The Python front end, as users of the retired container have it. */
export async function startPython(canned: string, transport: 'rest' | 'grpc'): Promise<FrontEnd> {
  const python = await ensurePythonFrontEnd(ROOT);
  const workers = ['--worker-class', 'gevent', '--workers', String(availableParallelism())];
  return startBefore(canned, (port, model) => ({
    command: join(python.bin, 'gunicorn'),
    args: [
      ...workers,
      '--timeout',
      '300',
      '--keep-alive',
      '600',
      '--bind',
      `127.0.0.1:${port}`,
      'front_end:app',
    ],
    cwd: join(ROOT, 'bench', 'python-front-end'),
    environment: { ...model, PYTHONPATH: python.protos, FRONT_END_TRANSPORT: transport },
  }));
}

/** The plain TypeScript front end: sharp, grpc-js, JSON.stringify. */
export function startGrpcJs(canned: string): Promise<FrontEnd> {
  return startBefore(canned, (port, model) => ({
    command: process.execPath,
    args: [programPath('grpc-js-front-end')],
    cwd: ROOT,
    environment: { ...model, FRONT_END_PORT: String(port) },
  }));
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Variables;
}

/** A front end that does not start the model server itself. */
async function startBefore(
  canned: string,
  programOf: (port: number, model: Variables) => Program,
): Promise<FrontEnd> {
  const model = await startCanned(canned);
  const port = await freePort();
  const { command, args, cwd, environment } = programOf(port, {
    CANNED_CASE: canned,
    MODEL_SERVER_REST_PORT: String(model.restPort),
    MODEL_SERVER_GRPC_PORT: String(model.grpcPort),
  });
  const log = openSync(join(tmpdir(), 'sagemaker-tfs-bench-front-end.log'), 'w');
  const child = startChild(command, args, {
    cwd,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment },
  });
  const url = `http://127.0.0.1:${port}`;
  const pids = () => processTree(child.pid as number);
  const stop = async () => {
    await Promise.all([endChild(child), model.stop()]);
  };
  try {
    await answering(`${url}/ping`, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pids, allPids: () => [...pids(), ...model.pids()], stop };
}

/** The canned model server alone. */
export async function startCanned(canned: string) {
  const [grpcPort, restPort] = [await freePort(), await freePort()];
  const child = startChild(
    join(cannedBin, 'tensorflow_model_server'),
    [`--port=${grpcPort}`, `--rest_api_port=${restPort}`, '--model_name=model'],
    { stdio: 'ignore', env: { ...process.env, CANNED_CASE: canned } },
  );
  const url = `http://127.0.0.1:${restPort}`;
  await answering(`${url}/v1/models/model`, child);
  const pids = () => processTree(child.pid as number);
  return { url, grpcPort, restPort, pids, stop: () => endChild(child) };
}
