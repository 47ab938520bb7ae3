/** Signatures whose runs change the model, by the graphs of its versions. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writingSignaturesInTurns } from '@sagemaker-tfs/libtensorflow/graph';
import { versionOf } from '@sagemaker-tfs/manifest/version';
import type { SignatureMap } from '@sagemaker-tfs/tensors';
import type { ModelSelector } from './servable.ts';
import type { ServedModel } from './served-model.ts';
import { versionDirectories } from './version-directories.ts';

/** Graphs that are remembered; older ones are read again. */
const MAX_GRAPHS = 1_000;

/** Asks which of a model's signatures write. Never rejects: of a graph that cannot be read, each may. */
export type AskWriting = (
  model: ModelSelector,
  signatures: SignatureMap,
) => Promise<ReadonlySet<string>>;

/** @param served the models of now */
export function writingOf(served: () => readonly ServedModel[]): AskWriting {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const ask = async (directory: string, signatures: SignatureMap) => {
    const { mtimeMs, size } = await stat(join(directory, 'saved_model.pb'));
    const key = JSON.stringify([directory, mtimeMs, size, Object.keys(signatures)]);
    const found = known.get(key) ?? writingSignaturesInTurns(directory, signatures);
    const [oldest] = known.keys();
    if (known.size >= MAX_GRAPHS && oldest !== undefined) known.delete(oldest);
    known.set(key, found);
    return found;
  };
  return async ({ name, version }, signatures) => {
    const model = served().find((one) => one.name === name);
    try {
      // Without a version any of them may be served now.
      const asked = version === undefined ? undefined : versionOf(version);
      const directories = (model ? await versionDirectories(model) : []).filter(
        (one) => asked === undefined || one.version === asked,
      );
      if (directories.length === 0) return new Set(Object.keys(signatures));
      const sets = await Promise.all(directories.map(({ path }) => ask(path, signatures)));
      return new Set(sets.flatMap((set) => [...set]));
    } catch {
      return new Set(Object.keys(signatures));
    }
  };
}

/** Of one version's directory. @returns all of them where its graph cannot be read: each may write */
export async function writingIn(
  directory: string,
  signatures: SignatureMap,
): Promise<ReadonlySet<string>> {
  return writingSignaturesInTurns(directory, signatures).catch(
    () => new Set(Object.keys(signatures)),
  );
}
