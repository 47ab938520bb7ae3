/** A folder for what has to be unpacked, fetched or converted, removed when the work is done. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PackagingError } from '../errors.ts';
import { outputFailed } from '../files/output.ts';

/** Makes paths of new, empty folders. */
export interface Workspace {
  /** Path of a folder that does not exist yet; its parent does. */
  folder(name: string): Promise<string>;
  /** From now on messages call `directory` by the name that the user knows: the archive or URI behind it. */
  rename(directory: string, name: string): void;
}

/** Runs `use` with a workspace; whatever it put there is removed afterwards. */
export async function withWorkspace<T>(use: (workspace: Workspace) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-')).catch(outputFailed(tmpdir()));
  const names = new Map<string, string>();
  try {
    return await use({
      folder: async (name) =>
        join(await mkdtemp(join(root, 'part-')).catch(outputFailed(root)), name),
      rename: (directory, name) => names.set(directory, name),
    });
  } catch (error) {
    throw renamed(error, names);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** A cause that tells the same with the temporary folder's name has nothing to add. */
function renamedCause(cause: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!(cause instanceof Error)) return cause;
  const mentions = [...names.keys()].some((directory) => cause.message.includes(directory));
  return mentions ? cause.cause : cause;
}

function renamed(error: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!(error instanceof PackagingError)) return error;
  let { message } = error;
  for (const [directory, name] of names) message = message.replaceAll(directory, name);
  if (message === error.message) return error;
  return new PackagingError(error.code, message, { cause: renamedCause(error.cause, names) });
}
