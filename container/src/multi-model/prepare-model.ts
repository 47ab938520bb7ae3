/** Reads and checks everything about a model that needs no model server. */
import type { Logger } from 'pino';
import { type Archive, loadArchive } from '../archive/archive.ts';
import { ServingError, StartError } from '../errors.ts';
import { checkVariables } from '../models/check-variables.ts';
import { discoverModels } from '../models/discover.ts';
import type { ServedModel } from '../models/served-model.ts';
import { estimateModelBytes } from './memory.ts';
import { checkModelFiles } from './model-files.ts';
import { locateModel } from './model-location.ts';

/** A loaded model. */
export interface LoadedModel {
  readonly served: ServedModel;
  /** As the load request had it. */
  readonly url: string;
  readonly archive: Archive;
  /** When it was last loaded or invoked, in ms since 1970. */
  lastUsed: number;
}

/** What every model of the endpoint is prepared with. */
export interface PrepareOptions {
  /** Every model must lie in it. */
  readonly root: string;
  /** Handler and manifest for models that bring none of their own. */
  readonly universal: Archive;
  readonly log: Logger;
  /** How long the code of a model's own handler may take to load. */
  readonly loadMs: number;
}

/** All versions of a model are loaded, which takes the model server from the others meanwhile. */
const MAX_VERSIONS = 64;

/** @returns also the bytes that the model is likely to take. @throws ServingError why it cannot be used */
export async function prepareModel(
  name: string,
  url: string,
  options: PrepareOptions,
): Promise<{ readonly model: LoadedModel; readonly bytes: number }> {
  const directory = await locateModel(name, url, options.root);
  const files = await checkModelFiles(directory);
  const served = { ...(await firstModel(name, directory, url)), name };
  const own = await ofArchive(async () => {
    await checkVariables([served]);
    return await loadArchive(directory, options.log, options.loadMs);
  });
  const archive = { ...own, handler: own.handler ?? options.universal.handler };
  const model = { served, url, archive, lastUsed: Date.now() };
  return { model, bytes: await estimateModelBytes(served, files) };
}

/** @throws ServingError HANDLER_FAILED or BAD_ARCHIVE if the archive's handler, manifest or model cannot be used */
async function ofArchive<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    const code = cause.code === 'HANDLER_INVALID' ? 'HANDLER_FAILED' : 'BAD_ARCHIVE';
    throw new ServingError(code, cause.message, { cause });
  }
}

async function firstModel(name: string, directory: string, url: string): Promise<ServedModel> {
  try {
    const [model] = await discoverModels(directory);
    return checkVersions(model as ServedModel);
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new ServingError(
      'MODEL_NOT_FOUND',
      `Could not find valid base path ${url} for servable ${name}: ${cause.message}`,
      {
        cause,
      },
    );
  }
}

function checkVersions(model: ServedModel): ServedModel {
  const { length } = model.versions;
  if (length <= MAX_VERSIONS) return model;
  throw new ServingError(
    'BAD_ARCHIVE',
    `the model has ${length} versions, and all would be loaded. ${MAX_VERSIONS} are the most. Package those that are called.`,
  );
}
