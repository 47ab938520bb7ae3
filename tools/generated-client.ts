/**
 * A client of S3 without a network, for counts and memory at millions of keys: objects are computed when they are asked
 * for, beside those that are put.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { S3Client } from '@aws-sdk/client-s3';

/** Objects of a bucket that are computed. */
interface GeneratedObjects {
  readonly count: number;
  /** Plain ASCII without spaces and signs, rising with the number. */
  keyOf(index: number): string;
  /** Default: one byte. */
  bodyOf?(index: number): Uint8Array;
  /** Objects that are not there. */
  lacks?(index: number): boolean;
}

/** The client, and what it was asked. */
interface GeneratedClient {
  readonly s3: S3Client;
  /** Calls so far: `GET`, `PUT` and `LIST`. */
  readonly calls: { GET: number; PUT: number; LIST: number };
  /** Objects that were put, by `bucket/key`. */
  readonly stored: Map<string, Uint8Array>;
  /** Bytes of memory that were in use at most beyond those at the start, looked at now and then. */
  grown(): number;
}

interface Options {
  /** Called with each object that is put; one that it takes is not kept. */
  readonly take?: (path: string, body: Uint8Array) => boolean;
}

interface Input {
  readonly Bucket: string;
  readonly Key?: string;
  readonly Prefix?: string;
  readonly StartAfter?: string;
  readonly ContinuationToken?: string;
  readonly MaxKeys?: number;
  readonly Body?: Uint8Array;
  readonly IfNoneMatch?: string;
  readonly Range?: string;
}

const WRITTEN = new Date(Date.UTC(2026, 0, 1));
/** Listings between two looks at the memory. */
const LOOK = 250;
const NONE: GeneratedObjects = { count: 0, keyOf: () => '' };
const ONE_BYTE = Uint8Array.of(120);

export function generatedClient(
  buckets: Readonly<Record<string, GeneratedObjects>>,
  { take = () => false }: Options = {},
): GeneratedClient {
  const calls = { GET: 0, PUT: 0, LIST: 0 };
  const stored = new Map<string, Uint8Array>();
  const collect = collector();
  const before = collect();
  let most = before;
  const look = () => {
    most = Math.max(most, collect());
  };

  function list(input: Input) {
    if (++calls.LIST % LOOK === 0) look();
    const { Bucket, Prefix = '', StartAfter = '', ContinuationToken, MaxKeys = 1_000 } = input;
    const after = ContinuationToken ?? StartAfter;
    const Contents: { Key: string; Size: number; LastModified: Date }[] = [];
    const from = buckets[Bucket] ?? NONE;
    for (let at = firstAfter(from, Prefix, after); at < from.count; at++) {
      const Key = from.keyOf(at);
      if (Contents.length > MaxKeys || !Key.startsWith(Prefix)) break;
      if (!from.lacks?.(at)) Contents.push({ Key, Size: 1, LastModified: WRITTEN });
    }
    for (const [path, { byteLength: Size }] of stored) {
      const Key = path.slice(Bucket.length + 1);
      const isIn = path.startsWith(`${Bucket}/${Prefix}`) && Key > after;
      if (isIn) Contents.push({ Key, Size, LastModified: WRITTEN });
    }
    Contents.sort((a, b) => (a.Key < b.Key ? -1 : 1));
    const page = Contents.slice(0, MaxKeys);
    const isMore = Contents.length > MaxKeys;
    return { Contents: page, ...(isMore && { NextContinuationToken: page.at(-1)?.Key }) };
  }

  function get({ Bucket, Key = '', Range }: Input) {
    calls.GET++;
    const body = stored.get(`${Bucket}/${Key}`) ?? generated(buckets[Bucket] ?? NONE, Key);
    if (!body) {
      const error = Object.assign(new Error(`no ${Key}`), { $metadata: { httpStatusCode: 404 } });
      throw Object.assign(error, { name: 'NoSuchKey' });
    }
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(Range ?? '') ?? [];
    const part = first === undefined ? body : body.subarray(Number(first), Number(last) + 1);
    return {
      ContentLength: part.byteLength,
      Body: { transformToByteArray: async () => part },
      ...(first !== undefined && { ContentRange: `bytes ${first}-${last}/${body.byteLength}` }),
    };
  }

  function put({ Bucket, Key, Body = new Uint8Array(), IfNoneMatch }: Input) {
    calls.PUT++;
    const path = `${Bucket}/${Key}`;
    if (IfNoneMatch && stored.has(path))
      throw Object.assign(new Error('there'), { name: 'PreconditionFailed' });
    if (!take(path, Body)) stored.set(path, Body);
    return {};
  }

  const send = async (command: { readonly input: Input }): Promise<object> => {
    const name = command.constructor.name;
    if (name.startsWith('List')) return list(command.input);
    return name.startsWith('Get') ? get(command.input) : put(command.input);
  };
  return {
    s3: { send } as unknown as S3Client,
    calls,
    stored,
    grown() {
      look();
      return most - before;
    },
  };
}

/** Number of the first object that begins with a prefix or comes after it, and after a key. */
function firstAfter({ count, keyOf }: GeneratedObjects, prefix: string, after: string): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keyOf(middle);
    if (key <= after || key < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}

function generated(from: GeneratedObjects, key: string): Uint8Array | undefined {
  const at = firstAfter(from, key, '');
  if (at >= from.count || from.keyOf(at) !== key || from.lacks?.(at)) return undefined;
  return from.bodyOf?.(at) ?? ONE_BYTE;
}

/** Returns a function that collects garbage, and returns the bytes in use. */
function collector(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}
