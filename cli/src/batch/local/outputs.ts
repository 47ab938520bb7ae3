/** Outputs of a local batch job: `<key>.out`, complete or absent. */
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OUTPUT_SUFFIX, outputKey } from '@sagemaker-tfs/batch';
import { isRunning } from '@sagemaker-tfs/libtensorflow/is-running';
import { CommandError } from '../../errors.ts';
import { lockFolder } from './folder-lock.ts';

/** Folder below the outputs for incomplete files. */
const PARTIAL = '.partial';

/** Path of a file that is not complete yet; the next job removes it where this one is killed. */
export function partialPath(directory: string, name: string | number): string {
  return join(directory, PARTIAL, `${process.pid}-${name}.partial`);
}

/** Path of the output for an input key. */
export function outputPath(directory: string, key: string): string {
  return join(directory, outputKey(key));
}

/** A name that this folder cannot have; other outputs are not concerned. */
export class OutputRefused extends Error {}

/** Faults of one name: too long, or a folder where a file should be and the reverse. */
const FAULTS_OF_A_NAME = new Set(['EEXIST', 'EILSEQ', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR']);

/** An output under way. */
export interface OutputFile {
  write(chunk: Uint8Array): Promise<void>;
  /** Puts the output in place. @throws OutputRefused */
  commit(): Promise<void>;
  /** Leaves nothing. */
  discard(): Promise<void>;
}

/** Where a job writes. Every method but those above throws CommandError OUTPUT_FAILED, which ends the job. */
export interface OutputFolder {
  open(key: string): Promise<OutputFile>;
  /** Removes what is left of outputs that were never completed, and leaves the folder to other jobs. */
  close(): Promise<void>;
}

/**
 * Makes the folder, takes it for this job, and removes what jobs that were killed left half-written.
 * @throws CommandError OUTPUT_FAILED, OUTPUTS_IN_USE
 */
export async function openOutputs(directory: string): Promise<OutputFolder> {
  const unlock = await lockFolder(directory);
  const partials = join(directory, PARTIAL);
  await guard(directory, () => mkdir(partials, { recursive: true }));
  await guard(partials, () => removeLeftovers(partials));
  let number = 0;
  return {
    open: (key) => openOutput(outputPath(directory, key), partialPath(directory, number++)),
    async close() {
      await removeLeftovers(partials, process.pid);
      await rmdir(partials).catch(() => undefined);
      await unlock();
    },
  };
}

async function openOutput(path: string, partial: string): Promise<OutputFile> {
  const file: FileHandle = await guard(partial, () => open(partial, 'w'));
  return {
    async write(chunk) {
      for (let at = 0; at < chunk.byteLength; ) {
        const { bytesWritten } = await guard(path, () => file.write(chunk, at));
        at += bytesWritten;
      }
    },
    async commit() {
      // A name that outlives a loss of power must not stand for bytes that do not.
      await guard(path, () => file.datasync());
      // Some file systems report a full disk only here.
      await guard(path, () => file.close());
      await guard(path, () => putInPlace(partial, path));
    },
    async discard() {
      await file.close().catch(() => undefined);
      await rm(partial, { force: true });
    },
  };
}

async function putInPlace(partial: string, path: string): Promise<void> {
  try {
    await rename(partial, path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    await rename(partial, path);
  }
}

/** @param own also those of this process */
async function removeLeftovers(partials: string, own?: number): Promise<void> {
  const names = await readdir(partials);
  const left = names.filter((name) => {
    const pid = Number(name.split('-')[0]);
    return pid === own || (pid !== process.pid && !isRunning(pid));
  });
  for (const name of left) await rm(join(partials, name), { force: true });
}

async function guard<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (FAULTS_OF_A_NAME.has(codeOf(cause)) && path.endsWith(OUTPUT_SUFFIX)) {
      throw new OutputRefused(`no output can be written to ${path}.`, { cause });
    }
    throw new CommandError(
      'OUTPUT_FAILED',
      `cannot write ${path}. Finished outputs are kept. Fix the cause and run the same command again.`,
      { cause },
    );
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? '');
}
