/** `tensorflow_model_server`: the program. */

import { basename } from 'node:path';
import { findLibrary, loadLibrary } from '@sagemaker-tfs/libtensorflow';
import { statusText, toStatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { type Flags, parseFlags } from './flags.ts';
import { startServer } from './server.ts';

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

async function serve(flags: Flags): Promise<void> {
  try {
    await startServer(flags);
  } catch (error) {
    const message = `Failed to start server. Error: ${statusText(toStatusError(error))}\n`;
    process.stdout.write(message, () => process.exit(FAILED));
  }
}

void main();
