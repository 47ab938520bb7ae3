/** Loads one version, again and again where that fails (util/retrier.cc, core/loader_harness.cc). */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Servable,
  StatusError,
  servableId,
  statusText,
  toStatusError,
  type VersionDirectory,
} from '@sagemaker-tfs/libtensorflow/serving';
import { log } from './log.ts';

/** How versions are loaded. */
export interface LoadOptions {
  readonly load: (name: string, directory: VersionDirectory) => Promise<Servable>;
  readonly maxRetries: number;
  readonly retryIntervalMs: number;
}

/** Timers of Node hold no more. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** The loaded version, or why it cannot be loaded. @param signal ends the attempts */
export async function loadVersion(
  name: string,
  directory: VersionDirectory,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<Servable | StatusError> {
  const id = servableId(name, directory.version);
  const pauseMs = Math.min(Math.max(0, options.retryIntervalMs), MAX_SLEEP_MS);
  for (let retries = 0; ; retries += 1) {
    try {
      log.info(`Loading servable version ${id}`);
      const servable = await options.load(name, directory);
      log.info(`Successfully loaded servable version ${id}`);
      return servable;
    } catch (error) {
      const status = toStatusError(error);
      log.error(`Loading servable: ${id} failed: ${statusText(status)}`);
      if (signal.aborted) log.info(`Retrying of Loading servable: ${id} was cancelled.`);
      if (signal.aborted || retries >= options.maxRetries) return status;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    log.info(`Retrying of Loading servable: ${id} retry: ${retries + 1}`);
  }
}

/** Whether loading failed. */
export function isFailure(result: Servable | StatusError): result is StatusError {
  return result instanceof StatusError;
}
