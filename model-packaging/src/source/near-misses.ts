/** What to say of a directory without a SavedModel: what was looked for, and what came nearest. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PackagingError } from '../errors.ts';
import { notASavedModel } from '../saved-model/saved-model.ts';

/** Folders of a project with files of others, among which a package's example is no model of the project's. */
export const NOT_SEARCHED = /^(node_modules|\.git|cdk\.out)$/;

/** Entries looked at before the search for near misses ends. */
const MAX_ENTRIES = 20_000;
/** Near misses that a message names. */
const MAX_TOLD = 3;
/** Only names from the SavedModel's own layout, and files that models come in. */
const SOURCES = /\.(keras|h5|hdf5|tar\.gz|tgz|tar|zip)$/i;
const OTHER_FORMATS = /\.(pb|pbtxt|tflite|onnx|ckpt|ckpt\.index|pt|safetensors)$/i;
const PIECES = /^(variables|assets|keras_metadata\.pb|fingerprint\.pb)$/;
const CHUNKED = 'saved_model.cpb';

/** The error for a directory in which, and so far below which, there is no SavedModel. */
export function noModelBelow(root: string, maxDepth: number): PackagingError {
  const misses = nearMisses(root, maxDepth);
  const chunked = misses.find(({ isChunked }) => isChunked);
  if (chunked) return notASavedModel(chunked.path);
  const told = misses
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_TOLD)
    .map(({ path, advice }) => `${path} (${advice})`);
  return new PackagingError(
    'NOT_A_SAVED_MODEL',
    `${root} holds no SavedModel: no saved_model.pb is in it, or in a version directory below it such as 1. ${
      told.length > 0
        ? `Nearest: ${told.join('; ')}.`
        : 'Give the directory that tf.saved_model.save or model.export wrote, or one above it.'
    }`,
  );
}

interface NearMiss {
  readonly path: string;
  readonly advice: string;
  /** Best first. */
  readonly rank: number;
  readonly isChunked?: true;
}

/** Level by level, so that the nearest come first. Links are not followed, what cannot be read is passed over. */
function nearMisses(root: string, maxDepth: number): NearMiss[] {
  const misses: NearMiss[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth <= maxDepth + 1 && level.length > 0 && seen < MAX_ENTRIES; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      const entries = read(directory);
      seen += entries.length;
      misses.push(...missesIn(directory, entries, depth > maxDepth));
      for (const entry of entries) {
        const isSearched = entry.isDirectory() && !NOT_SEARCHED.test(entry.name);
        if (isSearched) next.push(join(directory, entry.name));
      }
      if (seen >= MAX_ENTRIES) break;
    }
    level = next;
  }
  return misses;
}

function read(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function missesIn(directory: string, entries: readonly Dirent[], isTooDeep: boolean): NearMiss[] {
  const names = new Set(entries.map(({ name }) => name));
  if (names.has(CHUNKED)) return [{ path: directory, advice: '', rank: 0, isChunked: true }];
  if (names.has('saved_model.pb')) {
    return isTooDeep ? [{ path: directory, advice: 'too deep: give it itself', rank: 0 }] : [];
  }
  const pieces = [...names].filter((name) => PIECES.test(name)).sort();
  if (pieces.includes('variables')) {
    const advice = `has ${pieces.map((name) => `'${name}'`).join(' and ')}, but no saved_model.pb: export or copy it again`;
    return [{ path: directory, advice, rank: 1 }];
  }
  return entries.flatMap(({ name }): NearMiss[] => {
    const path = join(directory, name);
    if (SOURCES.test(name)) return [{ path, advice: 'give this file if it is the model', rank: 2 }];
    if (!OTHER_FORMATS.test(name)) return [];
    return [{ path, advice: 'not a SavedModel: export the model as one', rank: 3 }];
  });
}
