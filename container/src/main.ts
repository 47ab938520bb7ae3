/** Entry point of the container: environment, start, signals. */

import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { type Environment, readEnvironment } from './environment.ts';
import { StartError } from './errors.ts';
import { LAST_WORDS } from './last-words.ts';
import { idleSettings } from './model-server/gpu.ts';
import { createLog } from './observability/log.ts';
import { reportFailure, reportReady } from './processes/reports.ts';
import { hasPrimary, type WorkerRole, workerRole } from './processes/role.ts';
import { readThrown } from './thrown.ts';

// Keeps compiled functions, so that the first requests after a pause need not compile them again.
setFlagsFromString('--no-flush-bytecode');

/**
 * Starts the runtime and ends the process with 0 after SIGTERM or SIGINT, with 1 where the start fails, and with
 * `STALLED_START` where it stands still.
 */
async function main(): Promise<void> {
  const isBatchWorker = process.argv[2] === 'batch-worker';
  // As SageMaker sets it for a transform job.
  if (isBatchWorker) process.env.SAGEMAKER_BATCH ??= 'true';
  const reading = readEnvironmentOrExit();
  if (!reading) return;
  const { environment, warnings } = reading;
  if (isBatchWorker) {
    const { main: batchWorker } = await import('./batch-worker/main.ts');
    await batchWorker(process.argv.slice(3), environment, warnings);
    process.exit();
  }
  const role = workerRole();
  const isPrimary = !role && hasPrimary(environment);
  const log = createLog(environment.logLevel, isPrimary || role !== undefined);
  if (!role) for (const warning of [...warnings, ...idleSettings(environment)]) log.warn(warning);
  // A handler's stray promise or timer must not take the other requests down with it.
  process.on('unhandledRejection', (err) =>
    log.error({ err }, 'a promise was rejected, unhandled'),
  );
  // Node's own listener writes plain lines.
  process.removeAllListeners('warning');
  process.on('warning', (err) => log.warn({ err }, 'a warning of Node'));
  process.on('uncaughtException', (err) => log.error({ err }, 'an error was thrown, uncaught'));
  const signalled = untilSignalled((name) => {
    // The workers hear it from the primary, which says it for all.
    if (!role) log.info(`${name}: finishing what is in flight`);
  });
  const options = { environment, variables: process.env, log, signalled };
  try {
    if (isPrimary) await primary(options);
    else await serve(role ? { ...options, log: log.child({ worker: role.id }) } : options, role);
  } catch (error) {
    const thrown = readThrown(error);
    if (role) await reportFailure(thrown);
    else log.fatal({ err: error }, 'the start failed');
    if (role) process.exitCode = 1;
    else fail(thrown.message);
  }
  process.exit();
}

interface Options {
  readonly environment: Environment;
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Resolves at SIGTERM or SIGINT. */
  readonly signalled: Promise<void>;
}

async function primary(options: Options): Promise<void> {
  const { runPrimary } = await import('./processes/primary.ts');
  await runPrimary(options);
}

/** Answers requests until it is signalled. */
async function serve({ signalled, ...options }: Options, role?: WorkerRole): Promise<void> {
  const { startRuntime } = await import('./runtime.ts');
  const runtime = await startRuntime({ ...options, ...(role ? { worker: role } : {}) });
  if (role) runtime.ready.then(() => reportReady(runtime.metrics)).catch(() => undefined);
  try {
    await Promise.race([signalled, runtime.failed]);
  } catch (error) {
    await runtime.close(0);
    throw error;
  }
  await runtime.close();
}

function untilSignalled(announce: (name: string) => void): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      // Not once: a second signal (from a process group, a watchdog) must not cut off what is in flight.
      process.on(name, () => {
        announce(name);
        resolve();
      });
    }
  });
}

function readEnvironmentOrExit(): ReturnType<typeof readEnvironment> | undefined {
  try {
    return readEnvironment(process.env);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    createLog('info').fatal({ err: error }, 'the start failed');
    fail(error.message);
    return undefined;
  }
}

/** What a person at the terminal or in the last lines of the log needs to see. */
function fail(message: string): void {
  process.stderr.write(`${LAST_WORDS}${message}\n`);
  process.exitCode = 1;
}

void main();
