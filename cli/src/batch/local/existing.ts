/** Which outputs of earlier jobs count as done, by what made them and when. */
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  countsAsDone,
  type DecisiveSettings,
  type Existing,
  MIXED,
  nextOrigin,
  type Origin,
  originOf,
  parseOrigin,
} from '@sagemaker-tfs/batch';
import type { BatchInput } from './inputs.ts';
import type { MadeOf } from './made-of.ts';
import { outputPath, partialPath } from './outputs.ts';

/** True for an input whose output counts. */
export type IsDone = (input: BatchInput) => Promise<boolean>;

/** What makes the outputs of a job, and which others are kept. */
interface OriginOptions {
  readonly existing: Existing;
  /** Changes with the model, see `modelDigest`. */
  readonly model: string;
  /** Prefix of the inputs. */
  readonly root: string;
  readonly settings: DecisiveSettings;
  readonly madeOf: MadeOf;
}

/** Beside the outputs; hidden files are no outputs. */
const ORIGIN_FILE = '.origin.json';

/** The media type that all outputs of a folder were asked for, if it is known. */
export async function acceptOfFolder(directory: string): Promise<string | undefined> {
  const origin = await originOfFolder(directory);
  return origin?.fingerprint === MIXED ? undefined : origin?.accept;
}

function originOfFolder(directory: string): Promise<Origin | undefined> {
  return readFile(join(directory, ORIGIN_FILE), 'utf8').then(parseOrigin, () => undefined);
}

/**
 * Writes down what makes the outputs from now on, unless it is what made them before. Times are those of the outputs'
 * file system. A job with `existing: replace` counts as done only what it has made itself.
 */
export async function openOrigin(directory: string, options: OriginOptions): Promise<IsDone> {
  const { existing, model, root, settings, madeOf } = options;
  const path = join(directory, ORIGIN_FILE);
  const there = await originOfFolder(directory);
  const own = originOf(model, root, settings);
  const next = existing === 'replace' ? own : nextOrigin(there, own, existing);
  if (next) {
    // File systems tell times in steps of some milliseconds: no older output has this one's.
    await sleep(20);
    const partial = partialPath(directory, 'origin');
    await writeFile(partial, JSON.stringify(next));
    await rename(partial, path);
  }
  const { mtimeMs: since } = await stat(path);
  return async ({ key, path: input }) => {
    const output = await stat(outputPath(directory, key)).catch(() => undefined);
    if (!output?.isFile()) return false;
    const written = (file: { readonly mtimeMs: number }) => ({ modified: file.mtimeMs });
    if (!countsAsDone(existing, since, written(output), undefined)) return false;
    const source = existing === 'older' && (await stat(input).catch(() => undefined));
    if (!source) return true;
    const isSame = await madeOf.isSame(key, input, source);
    return isSame ?? countsAsDone(existing, since, written(output), written(source));
  };
}
