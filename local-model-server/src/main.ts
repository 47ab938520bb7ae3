/** `tensorflow_model_server`: the program. */

import { basename } from 'node:path';
import { findLibrary, loadLibrary } from '@sagemaker-tfs/libtensorflow';
import { statusText, toStatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { type Flags, parseFlags } from './flags.ts';
import { log } from './log.ts';
import { type CloseServer, startServer } from './server.ts';

/** Exit status of the original where it does not start (`return -1`). */
const FAILED = 255;

async function main(): Promise<void> {
  const parsed = parseFlags(process.argv.slice(2), basename(process.argv[1] ?? ''));
  if ('problem' in parsed) {
    if (parsed.problem) process.stderr.write(`${parsed.problem}\n`);
    process.stdout.write(parsed.usage, () => process.exit(FAILED));
    return;
  }
  if (parsed.flags.version) return printVersion();
  if (parsed.unknown !== undefined) {
    process.stdout.write(`unknown argument: ${parsed.unknown}\n${parsed.usage}`);
  }
  await serve(parsed.flags);
}

async function printVersion(): Promise<void> {
  const location = await findLibrary();
  const library = location ? loadLibrary(location).version : 'not found';
  process.stdout.write(
    `TensorFlow ModelServer: local-model-server\nTensorFlow Library: ${library}\n`,
    () => process.exit(0),
  );
}

/** Serves until SIGTERM or SIGINT. */
async function serve(flags: Flags): Promise<void> {
  let close: CloseServer = async () => true;
  let closing = false;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (closing) return dieOf(signal);
    closing = true;
    log.info(`${signal}: ending`);
    if (await close()) process.exit(0);
    dieOf(signal);
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  try {
    close = await startServer(flags, (closeModels) => {
      close = closeModels;
    });
  } catch (error) {
    if (closing) return;
    const message = `Failed to start server. Error: ${statusText(toStatusError(error))}\n`;
    process.stdout.write(message, () => process.exit(FAILED));
  }
}

/** Ends at once, as without a handler; `process.exit` would wait for TensorFlow's runs. */
function dieOf(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

void main();
