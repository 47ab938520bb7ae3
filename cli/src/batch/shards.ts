/** Many small images in few large files: a folder packed into shards of records, and back. */
import { createReadStream, existsSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { PACK_ENDINGS, PACK_FORMATS, type PackFormat, textLines } from '@sagemaker-tfs/batch';
import {
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  streamLengthPrefixed,
  streamRecordIo,
  streamTfRecords,
} from '@sagemaker-tfs/tensors';
import { CommandError, cannotWrite, explain, usageError } from '../errors.ts';
import { replaceWhole } from '../output/write-whole.ts';
import { type BatchInput, noInputs, sortedFolder, statOfInput } from './local/inputs.ts';

/** How a format frames records. */
interface ShardFormat {
  encode(record: Uint8Array): Uint8Array[];
  stream(
    chunks: AsyncIterable<Uint8Array>,
    options: { maxRecordBytes: number },
  ): AsyncGenerator<Uint8Array>;
}

/** Formats by the name on the command line. */
const SHARD_FORMATS = {
  tfrecord: { encode: encodeTfRecord, stream: streamTfRecords },
  recordio: { encode: encodeRecordIo, stream: streamRecordIo },
  'length-prefixed': { encode: encodeLengthPrefixed, stream: streamLengthPrefixed },
} as const satisfies Record<PackFormat, ShardFormat>;

/**
 * Names of the records of a shard, one JSON string a line, are in `<folder>.keys/<shard>.ndjson`: not among the
 * shards, where each file is an input.
 */
const NAMES_SUFFIX = '.ndjson';

function namesFolder(shards: string): string {
  return `${resolve(shards)}.keys`;
}
const MAX_RECORD = 2 ** 31 - 1;

/** What was packed or unpacked. */
export interface ShardReport {
  readonly records: number;
  readonly bytes: number;
  readonly shards: number;
  /** Files that could not be packed, with the reason. */
  readonly failures: readonly { readonly key: string; readonly message: string }[];
}

/** How a folder is packed. */
interface PackOptions {
  readonly format: PackFormat;
  /** Most bytes of a shard; a record that has more is one of its own. */
  readonly shardBytes: number;
  /** Whether links may lead out of the folder. Default: false, such files are listed as failed. */
  readonly followLinks?: boolean | undefined;
  readonly onRecord?: () => void;
}

/**
 * Packs the files below a folder into `shard-000000.<suffix>`, ... in the order of their keys, with
 * the names of the records in `<target>.keys`. The target is there as a whole or not at all; memory holds one file.
 * @throws CommandError FILE_NOT_FOUND, INPUT_EMPTY, OUTPUT_EXISTS, USAGE
 */
export async function packFolder(
  directory: string,
  target: string,
  options: PackOptions,
): Promise<ShardReport> {
  if ((await readdir(target).catch(() => [])).length > 0) {
    throw new CommandError('OUTPUT_EXISTS', `${target} is not empty. Name another folder.`);
  }
  // The names lie beside the folder, where a link would not lead.
  if ((await lstat(resolve(target)).catch(() => undefined))?.isSymbolicLink()) {
    throw usageError(`${target} is a link. Name the folder that it leads to.`);
  }
  const partial = `${resolve(target)}.partial`;
  await rm(partial, { recursive: true, force: true }).catch((cause: unknown) => {
    throw cannotWrite(target, cause);
  });
  const places = { shards: join(partial, 'shards'), names: join(partial, 'names') };
  for (const place of Object.values(places)) await makeFolder(place);
  try {
    const inputs = sortedFolder(directory, partial);
    const report = await packInto(inputs, directory, places, options);
    for (const old of [target, namesFolder(target)])
      await rm(old, { recursive: true, force: true });
    await rename(places.names, namesFolder(target));
    await rename(places.shards, target);
    return report;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Folders that are written to. */
interface Places {
  readonly shards: string;
  readonly names: string;
}

async function packInto(
  inputs: AsyncIterable<BatchInput>,
  name: string,
  places: Places,
  { format, shardBytes, followLinks, onRecord }: PackOptions,
): Promise<ShardReport> {
  const { encode } = SHARD_FORMATS[format];
  const suffix = PACK_ENDINGS[format];
  const failures: { key: string; message: string }[] = [];
  let [records, bytes, shards] = [0, 0, 0];
  let shard: ShardWriter | undefined;
  try {
    for await (const { key, path } of inputs) {
      try {
        await statOfInput(followLinks ? undefined : name, path);
        const body = await readFile(path);
        // A model refuses it, and a request of many records with it.
        if (body.length === 0) throw usageError('the file is empty. Remove it.');
        const chunks = encode(body);
        const size = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
        if (shard && shard.bytes + size > shardBytes) {
          const full = shard;
          shard = undefined;
          await full.close();
        }
        shard ??= await openShard(places, `shard-${String(shards++).padStart(6, '0')}`, suffix);
        bytes += await shard.add(key, chunks);
        records++;
      } catch (error) {
        const isOwn = (error as NodeJS.ErrnoException).path === path || isOfTheRecord(error);
        if (!isOwn) throw error;
        failures.push({ key, message: explain(error) });
      }
      onRecord?.();
    }
  } finally {
    await shard?.close();
  }
  if (records === 0 && failures.length === 0) {
    throw noInputs(name);
  }
  return { records, bytes, shards, failures };
}

function isOfTheRecord(error: unknown): boolean {
  return ['TOO_LARGE', 'ERR_FS_FILE_TOO_LARGE', 'UNSAFE_PATH', 'USAGE'].includes(
    (error as { code?: string }).code ?? '',
  );
}

interface ShardWriter {
  bytes: number;
  add(key: string, chunks: readonly Uint8Array[]): Promise<number>;
  close(): Promise<void>;
}

async function openShard(places: Places, name: string, suffix: string): Promise<ShardWriter> {
  const data = await open(join(places.shards, name + suffix), 'w');
  const keys = await open(join(places.names, name + NAMES_SUFFIX), 'w');
  const writer: ShardWriter = {
    bytes: 0,
    async add(key, chunks) {
      let size = 0;
      for (const chunk of chunks) size += chunk.byteLength;
      for (const chunk of chunks) await data.writeFile(chunk);
      await keys.writeFile(`${JSON.stringify(key)}\n`);
      writer.bytes += size;
      return size;
    },
    async close() {
      await data.close().finally(() => keys.close());
    },
  };
  return writer;
}

/**
 * Unpacks shards into files under their names, or `<shard>-<number>` where the names are not there. All lists of names are
 * read before anything is written: no record takes the place of another.
 * @throws TensorError for a shard that is damaged, naming the record; CommandError UNSAFE_PATH, USAGE
 */
export async function unpackShards(
  shardPaths: readonly string[],
  target: string,
): Promise<ShardReport> {
  await checkNames(shardPaths, target);
  let [records, bytes] = [0, 0];
  for (const path of shardPaths) {
    const { stem, format } = formatOf(path);
    const list = listOf(path);
    const isNamed = existsSync(list);
    const names = namesOf(list);
    let index = 0;
    try {
      const chunks = createReadStream(path, { highWaterMark: 1024 * 1024 });
      for await (const record of format.stream(chunks, { maxRecordBytes: MAX_RECORD })) {
        const name = (await names.next()).value;
        if (isNamed && name === undefined) throw otherCount(list, path, 'fewer');
        const file = fileFor(target, name ?? `${numbered(stem)}${String(index).padStart(6, '0')}`);
        await refuseLinkOut(target, file);
        await makeFolder(dirname(file));
        await replaceWhole(file, record);
        index++;
        bytes += record.byteLength;
      }
      if (isNamed && !(await names.next()).done) throw otherCount(list, path, 'more');
    } finally {
      await names.return(undefined);
    }
    records += index;
  }
  return { records, bytes, shards: shardPaths.length, failures: [] };
}

/** What the names of records begin with where a shard has no list of names. */
function numbered(stem: string): string {
  return `${basename(stem)}-`;
}

function listOf(shard: string): string {
  return join(namesFolder(dirname(shard)), basename(formatOf(shard).stem) + NAMES_SUFFIX);
}

/** Refuses names that lead out of the target, and two that are of the same file. */
async function checkNames(shards: readonly string[], target: string): Promise<void> {
  const files = new Set<string>();
  const add = (name: string, of: string) => {
    const file = fileFor(target, name);
    if (files.has(file)) {
      throw usageError(
        `${of}: the name ${JSON.stringify(name)} is there for two records. Unpack into one folder for each shard, or pack again.`,
      );
    }
    files.add(file);
  };
  for (const shard of shards) {
    const list = listOf(shard);
    if (!existsSync(list)) add(numbered(formatOf(shard).stem), shard);
    else for await (const name of namesOf(list)) add(name, list);
  }
}

function otherCount(list: string, shard: string, than: 'fewer' | 'more'): CommandError {
  return usageError(
    `${list} has ${than} names than ${shard} has records. Take the list that was packed with it, or none.`,
  );
}

/** A link that lies in the target already may lead anywhere. */
async function refuseLinkOut(target: string, file: string): Promise<void> {
  const root = await realpath(target).catch(() => undefined);
  if (root === undefined) return;
  for (let place = file; place !== resolve(target); place = dirname(place)) {
    const real = await realpath(place).catch(() => undefined);
    if (real === undefined) continue;
    if (real.startsWith(root.endsWith('/') ? root : `${root}/`)) return;
    throw new CommandError(
      'UNSAFE_PATH',
      `${place} is a link that leads out of ${target}. Remove it, or name another folder.`,
    );
  }
}

function formatOf(path: string): { stem: string; format: ShardFormat } {
  const shard = byName(path);
  if (shard) return { stem: shard.stem, format: SHARD_FORMATS[shard.name] };
  const known = Object.values(PACK_ENDINGS).join(', ');
  throw usageError(`${path} is not a shard by its name. Shards end in ${known}.`);
}

/** A shard's name without its ending, and its format; undefined for any other file. */
function byName(file: string): { stem: string; name: PackFormat } | undefined {
  const name = PACK_FORMATS.find((known) => file.endsWith(PACK_ENDINGS[known]));
  return name && { stem: file.slice(0, -PACK_ENDINGS[name].length), name };
}

/** Whether a folder of shards has lists of names beside it. */
export function hasShardNames(folder: string): boolean {
  return existsSync(namesFolder(folder));
}

/**
 * Names of a shard's records, in their order.
 * @param folder that holds the shard
 * @returns undefined if there is no list of them, or the file is no shard by its name
 */
export async function shardNames(folder: string, file: string): Promise<string[] | undefined> {
  const shard = byName(file);
  if (!shard) return undefined;
  const list = join(namesFolder(folder), shard.stem + NAMES_SUFFIX);
  if (!existsSync(list)) return undefined;
  const names: string[] = [];
  for await (const name of namesOf(list)) names.push(name);
  return names;
}

/** The names beside a shard, or none. */
async function* namesOf(path: string): AsyncGenerator<string, undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    let number = 0;
    for await (const line of textLines(file.createReadStream())) {
      yield nameOf(line, `${path}:${++number}`);
    }
  } finally {
    await file.close();
  }
  return undefined;
}

function nameOf(line: string, place: string): string {
  const name = stringOf(line);
  if (name === undefined || name === '') {
    throw usageError(`${place} is not the name of a record as a JSON string. Pack again.`);
  }
  if (!/\p{Cc}/u.test(name)) return name;
  throw usageError(
    `${place}: the record's name ${JSON.stringify(name)} has control characters. Rename it and pack again, or remove the list for numbers as names.`,
  );
}

function stringOf(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function fileFor(target: string, key: string): string {
  const path = resolve(target, `./${key}`);
  if (path.startsWith(`${resolve(target)}/`)) return path;
  throw new CommandError(
    'UNSAFE_PATH',
    `the record's name ${JSON.stringify(key)} leads out of ${target}. Rename it and pack again.`,
  );
}

/** @throws CommandError OUTPUT_FAILED */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    throw cannotWrite(path, cause);
  });
}
