/** After a job: every input has an output, or is listed with its reason. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openJsonArray } from '../json-array-file.ts';
import type { IsDone } from './existing.ts';
import { inGroups } from './groups.ts';
import type { BatchInput, InputSource } from './inputs.ts';
import { partialPath } from './outputs.ts';

/** Why one input has no output. */
export interface InputFailure {
  readonly key: string;
  /** HTTP status of the last try, or undefined if no answer came. */
  readonly status: number | undefined;
  readonly message: string;
}

/** What was found. */
export interface Completeness {
  readonly inputs: number;
  readonly missing: number;
  /** Manifest of the missing inputs, for another run with `--manifest`; absent if there is none. */
  readonly redriveManifest?: string;
  /** The same inputs with their reasons. */
  readonly redriveReasons?: string;
}

const NOT_THERE =
  'no output, and no reason is kept (it appeared while the job ran, or too many failed)';

/** Looks for every input's output, and writes the re-drive manifest where some are missing. */
export async function checkCompleteness(
  source: InputSource,
  outputDirectory: string,
  failures: ReadonlyMap<string, InputFailure>,
  isDone: IsDone,
): Promise<Completeness> {
  const manifestPath = join(outputDirectory, 'redrive.manifest');
  const reasonsPath = join(outputDirectory, 'redrive-reasons.json');
  const manifest = await openJsonArray(manifestPath, partialPath(outputDirectory, 'redrive'));
  const reasons = await openJsonArray(reasonsPath, partialPath(outputDirectory, 'reasons'));
  await manifest.add({ prefix: source.prefix });
  let inputs = 0;
  let missing = 0;
  try {
    for await (const group of inGroups(source.list())) {
      inputs += group.length;
      for (const { key } of await withoutOutput(group, isDone)) {
        missing++;
        await manifest.add(key);
        const { status, message } = failures.get(key) ?? { status: undefined, message: NOT_THERE };
        await reasons.add({ key, ...(status !== undefined && { status }), reason: message });
      }
    }
  } catch (error) {
    await Promise.all([manifest.discard(), reasons.discard()]);
    throw error;
  }
  if (missing > 0) {
    await Promise.all([manifest.commit(), reasons.commit()]);
    return { inputs, missing, redriveManifest: manifestPath, redriveReasons: reasonsPath };
  }
  await Promise.all([manifest.discard(), reasons.discard()]);
  for (const old of [manifestPath, reasonsPath]) await rm(old, { force: true });
  return { inputs, missing };
}

/** The inputs of a group that have no output that counts. */
export async function withoutOutput(
  group: readonly BatchInput[],
  isDone: IsDone,
): Promise<BatchInput[]> {
  const there = await Promise.all(group.map(isDone));
  return group.filter((_, index) => !there[index]);
}
