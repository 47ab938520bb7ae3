/**
 * Which file of keys belongs to a part. Each process writes its own file of keys first and then tries to write the part; one
 * of them succeeds. If a part has several files, the one with the part's SHA-256 counts.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { BatchError } from './errors.ts';
import { compareKeys } from './key-order.ts';
import {
  doneKey,
  type KeysHeader,
  keysOfPart,
  keysOfRange,
  parseKeysHeader,
  partOfKey,
  partOfKeysFile,
  WORKER_KEYS,
} from './worker-run.ts';

const decompress = promisify(gunzip);
const LINE_FEED = 0x0a;

/** What a worker has written; keys are relative to its output prefix. */
export interface WorkerFiles {
  /** Objects whose keys start so. */
  list(start: string): Promise<readonly { readonly key: string }[]>;
  /** @returns undefined if it is not there */
  read(key: string): Promise<Uint8Array | undefined>;
}

/** A file of keys. */
export interface KeysFile {
  readonly key: string;
  /** As it is stored: compressed. */
  readonly bytes: Uint8Array;
}

/** Files of keys that may belong to a part, by the part's key. */
export type KeysCandidates = ReadonlyMap<string, readonly string[]>;

/**
 * Lists the files of keys of parts, those of a range together.
 * @param parts keys of a listing that was made before: a part that was written later may have a file that is not its own
 */
export async function keysCandidates(
  { list }: Pick<WorkerFiles, 'list'>,
  parts: readonly string[],
): Promise<KeysCandidates> {
  const found = new Map<string, string[]>();
  const byNumber = new Map<string, string[]>();
  const starts = new Map<number, string>();
  for (const part of parts) {
    const place = partOfKey(part);
    if (!place) continue;
    const own: string[] = [];
    found.set(part, own);
    byNumber.set(nameOf(place), own);
    const isSecond = starts.has(place.range);
    starts.set(
      place.range,
      isSecond ? keysOfRange(place.range) : keysOfPart(place.range, place.part),
    );
  }
  for (const start of starts.values()) {
    for (const { key } of await list(start)) {
      const place = partOfKeysFile(key);
      if (place) byNumber.get(nameOf(place))?.push(key);
    }
  }
  return found;
}

function nameOf({ range, part }: { range: number; part: number }): string {
  return `${range}-${part}`;
}

/**
 * Reads a part's file of keys. The part itself is read only if several files may be its own.
 * @throws BatchError WORKER_FILE_INVALID if none is, or if the part is needed and not there
 */
export async function readKeysFile(
  { read }: Pick<WorkerFiles, 'read'>,
  part: string,
  candidates: KeysCandidates,
): Promise<KeysFile> {
  const there: KeysFile[] = [];
  for (const key of candidates.get(part) ?? []) {
    const bytes = await read(key);
    // Another worker may have removed its own meanwhile: the part is not its.
    if (bytes) there.push({ key, bytes });
  }
  const [only] = there;
  if (only && there.length === 1) return only;
  if (there.length > 1) {
    const body = await read(part);
    if (!body) {
      throw new BatchError(
        'WORKER_FILE_INVALID',
        `${part} is not there, and ${there.length} files in ${WORKER_KEYS} may have its keys: only its bytes tell which. Put it back.`,
      );
    }
    const [own] = await thoseOf(body, there);
    if (own) return own;
  }
  throw new BatchError(
    'WORKER_FILE_INVALID',
    `${part} has no file of keys of its own in ${WORKER_KEYS}, so nobody can tell what it holds. Remove it, the parts of its range after it and ${doneKey(partOfKey(part)?.range ?? 0)}, and run the worker again.`,
  );
}

/** Where two processes have written the same bytes, the one that goes less far first: what it leaves out is looked at again. */
async function thoseOf(body: Uint8Array, files: readonly KeysFile[]): Promise<KeysFile[]> {
  const sha256 = sha256Of(body);
  const found: { file: KeysFile; last: string }[] = [];
  for (const file of files) {
    const header = await readKeysHeader(file);
    if (header.sha256 === sha256) found.push({ file, last: header.last });
  }
  return found.sort((a, b) => compareKeys(a.last, b.last)).map(({ file }) => file);
}

/** The first line of a file of keys. @throws BatchError WORKER_FILE_INVALID */
export async function readKeysHeader({ key, bytes }: KeysFile): Promise<KeysHeader> {
  const text = await decompress(bytes);
  return parseKeysHeader(text.subarray(0, text.indexOf(LINE_FEED)).toString('utf8'), key);
}

/** SHA-256 (hex) of a part, as its file of keys names it. */
export function sha256Of(part: Uint8Array): string {
  return createHash('sha256').update(part).digest('hex');
}
