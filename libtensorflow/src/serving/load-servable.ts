/** Loads a version directory into TensorFlow, with batching around it and warm-up before it is used. */
import { stat } from 'node:fs/promises';
import type { ConfigProto } from '@sagemaker-tfs/tensors/protos';
import type { Device } from '../devices.ts';
import type { LibraryLocation } from '../library-location.ts';
import { SavedModelSession } from '../saved-model-session.ts';
import type { MixedPrecision } from '../session-config.ts';
import { Servable } from './servable.ts';
import type { Session } from './session.ts';
import type { VersionDirectory } from './version-directory.ts';
import { warmUp } from './warmup.ts';

/** How SavedModels are loaded and run. */
export interface ServableOptions {
  readonly library: LibraryLocation;
  readonly tags: readonly string[];
  /** Threads; undefined leaves it to TensorFlow. */
  readonly intraOpThreads?: number;
  readonly interOpThreads?: number;
  /** 0 to 1; undefined leaves it to TensorFlow. */
  readonly gpuMemoryFraction?: number;
  /** Undefined: the types of the model. */
  readonly mixedPrecision?: MixedPrecision;
  /** Undefined: no limit. */
  readonly maxOutputStrings?: number;
  /** Undefined: what Node can hold. */
  readonly maxOutputBytes?: number;
  /** What the session is configured with besides. */
  readonly base?: ConfigProto;
  /** Makes a session that batches the runs of the model's own. Undefined: requests run alone. */
  readonly batching?: (session: Session) => Session;
  /** Times that each warm-up request runs; 0 skips warm-up. */
  readonly warmupIterations: number;
  /** Told what warm-up does. */
  readonly log?: (message: string) => void;
  /** Gets what TensorFlow has to run the model on. Undefined: nobody asks. */
  readonly onDevices?: (devices: readonly Device[]) => void;
}

/** @throws StatusError or LibTensorFlowError with what is wrong with the SavedModel; nothing stays loaded */
export async function loadServable(
  name: string,
  { version, path }: VersionDirectory,
  options: ServableOptions,
): Promise<Servable> {
  const { tags, library, intraOpThreads, interOpThreads, gpuMemoryFraction, batching } = options;
  const { mixedPrecision, maxOutputStrings, maxOutputBytes, base } = options;
  const origin = await originOf(path);
  const model = await SavedModelSession.load(path, {
    tags,
    library,
    ...(intraOpThreads !== undefined && { intraOpThreads }),
    ...(interOpThreads !== undefined && { interOpThreads }),
    ...(gpuMemoryFraction !== undefined && { gpuMemoryFraction }),
    ...(mixedPrecision && { mixedPrecision }),
    ...(maxOutputStrings !== undefined && { maxOutputStrings }),
    ...(maxOutputBytes !== undefined && { maxOutputBytes }),
    ...(base && { base }),
  });
  options.onDevices?.(model.devices);
  const session = sessionOf(model);
  const batched = batching?.(session) ?? session;
  const servable = new Servable(name, version, origin, batched, model.metaGraph.signatureDef);
  try {
    if (options.warmupIterations > 0) {
      await warmUp(servable, path, options.warmupIterations, options.log);
    }
  } catch (error) {
    await servable.unload();
    throw error;
  }
  return servable;
}

/** Of the directory as it is now. */
async function originOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return JSON.stringify([path, found?.ino, found?.mtimeMs]);
}

function sessionOf(model: SavedModelSession): Session {
  return {
    signatures: model.signatures,
    run: (signature, inputs, outputs, signal) =>
      model.run(signature, inputs, { outputs, ...(signal && { signal }) }),
    close: () => model.close(),
  };
}
