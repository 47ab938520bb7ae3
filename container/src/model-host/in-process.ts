/** The models in this process as a host of the runtime: loaded at the start, ready when all are. */

import { availableParallelism } from 'node:os';
import {
  type Device,
  findLibrary,
  IN_CALLING_THREAD,
  type LibraryLocation,
} from '@sagemaker-tfs/libtensorflow';
import {
  BatchThreads,
  halvesUnlessOver,
  JoiningSession,
  loadServable,
  type ServableOptions,
  type Session,
  toStatusError,
} from '@sagemaker-tfs/libtensorflow/serving';
import type { Backends } from '../backends/backends.ts';
import { batchingOptions, maxRowsOf } from '../backends/batching-options.ts';
import type { LoadVersion } from '../backends/in-process/loaded-model.ts';
import { ModelStore } from '../backends/in-process/model-store.ts';
import { type AnswerLimits, InProcessBackend } from '../backends/in-process.ts';
import type { Batching, Environment } from '../environment.ts';
import { ServingError, StartError } from '../errors.ts';
import { gpuMemoryFraction } from '../model-server/command.ts';
import { missingGpuTeller } from '../model-server/gpu.ts';
import { writingIn } from '../models/writing-signatures.ts';
import { laterFailure } from '../waiting/failure.ts';
import { ReadyGate } from '../waiting/ready-gate.ts';
import type { ModelHost, ModelHostOptions, ModelReadiness } from './model-host.ts';

/**
 * Begins to load the models; {@link ModelHost.readiness} tells when they are loaded.
 * @throws StartError LIBRARY_NOT_FOUND
 */
export async function startInProcessHost(options: ModelHostOptions): Promise<ModelHost> {
  const store = new ModelStore(versionLoader(options, await requireLibrary()));
  const loaded = store.serve(options.models);
  return {
    readiness: readinessOf(store, loaded, options.environment.limits.waitMs),
    backends: onlyInProcess(
      new InProcessBackend(store, answerLimits(options.environment), options.guard),
    ),
    endpoint: undefined,
    refusals: 0,
    modelServerEnds: 0,
    failed: failureOf(loaded),
    async serve(models) {
      try {
        await store.serve(models(), options.environment.limits.waitMs);
      } catch (error) {
        throw toStatusError(error);
      }
    },
    // The process ends; freeing the models first would only take time.
    stop: async () => undefined,
  };
}

async function requireLibrary(): Promise<LibraryLocation> {
  const library = await findLibrary();
  if (library) return library;
  throw new StartError(
    'LIBRARY_NOT_FOUND',
    'SAGEMAKER_TFS_BACKEND=in-process needs the library of TensorFlow. Set LIBTENSORFLOW_PATH to the directory of libtensorflow_cc.so.2 and libtensorflow_framework.so.2, or use grpc.',
  );
}

function answerLimits({ limits }: Environment): AnswerLimits {
  return {
    maxStrings: limits.decode.maxStrings,
    maxBytes: limits.maxResponseBytes,
    timeoutMs: limits.requestTimeoutMs,
  };
}

function versionLoader(options: ModelHostOptions, library: LibraryLocation): LoadVersion {
  const { environment, log, listeners } = options;
  const { graph, batching } = environment.modelServer;
  const { mixedPrecision } = graph;
  const gpu = gpuMemoryFraction(environment, environment.processes);
  const threads = batching && new BatchThreads(batching.threads);
  const common: ServableOptions = {
    library,
    tags: ['serve'],
    ...threadsOf(environment),
    ...(gpu !== undefined && { gpuMemoryFraction: gpu }),
    ...(mixedPrecision && { mixedPrecision }),
    maxOutputStrings: answerLimits(environment).maxStrings,
    maxOutputBytes: answerLimits(environment).maxBytes,
    warmupIterations: 1,
    log: (message) => log.info(message),
  };
  const maxRows = maxRowsOf(environment);
  const joining = (batching: Batching, threads: BatchThreads, model: string, directory: string) => {
    const options = { batching, maxRows, model, afterFailure: halvesUnlessOver, listeners };
    return (session: Session) => {
      const writing = writingIn(directory, session.signatures);
      return new JoiningSession(session, batchingOptions({ ...options, writing }), threads);
    };
  };
  const tellOfGpu = missingGpuTeller(library.directory, (reason) => log.warn(reason));
  return async (name, directory) => {
    const started = performance.now();
    let devices: readonly Device[] = [];
    const servable = await loadServable(name, directory, {
      ...common,
      onDevices: (found) => {
        devices = found;
      },
      ...(batching && threads && { batching: joining(batching, threads, name, directory.path) }),
    });
    const ms = Math.round(performance.now() - started);
    const version = directory.version.toString();
    log.info({ model: name, version, ms, devices: devices.map((one) => one.name) }, 'loaded');
    tellOfGpu(devices);
    return servable;
  };
}

/** As asked for; else each of several processes takes its part of the processors, not all of them. */
function threadsOf({
  modelServer,
  processes,
}: Environment): Pick<ServableOptions, 'interOpThreads' | 'intraOpThreads'> {
  const share = processes > 1 ? Math.max(1, Math.floor(availableParallelism() / processes)) : 0;
  const intraOpThreads = modelServer.intraOpThreads || share;
  const interOpThreads = modelServer.interOpThreads || (share === 1 ? IN_CALLING_THREAD : share);
  return {
    ...(interOpThreads !== 0 && { interOpThreads }),
    ...(intraOpThreads !== 0 && { intraOpThreads }),
  };
}

function readinessOf(store: ModelStore, loaded: Promise<void>, waitMs: number): ModelReadiness {
  let ready = false;
  const reason = () => (ready ? undefined : (store.missing ?? 'the models are loading'));
  const gate = new ReadyGate({ isReady: () => ready, reason, waitMs });
  loaded.then(
    () => {
      ready = true;
      gate.changed();
    },
    () => undefined,
  );
  return {
    firstReady: gate.firstReady,
    get reason() {
      return reason();
    },
    whenReady: (signal) => gate.whenReady(signal),
  };
}

function failureOf(loaded: Promise<void>): Promise<never> {
  const { failed, fail } = laterFailure();
  loaded.catch(fail);
  return failed;
}

function onlyInProcess(backend: InProcessBackend): Backends {
  return {
    async choose(transport = 'in-process') {
      if (transport === 'in-process') return backend;
      throw new ServingError(
        'BAD_CUSTOM_ATTRIBUTE',
        `tfs-transport=${transport} needs a container started with SAGEMAKER_TFS_BACKEND=grpc or rest. This one runs the model in-process.`,
      );
    },
    forget: () => undefined,
  };
}
