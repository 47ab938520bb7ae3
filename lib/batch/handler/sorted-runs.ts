/**
 * Sorts more keys than memory holds: sorted runs on S3, and their merge. An inventory's files are in no order,
 * and may name a key twice.
 */
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { fromSortable, mergeSorted, type S3Location, toSortable } from '@sagemaker-tfs/batch';
import { readRanges, writeObject } from './storage.ts';

/** Characters of the keys of one run: what is in memory at once. */
const RUN_CHARACTERS = 16 * 1024 ** 2;
/** Keys in a line of a run. */
const PAGE = 1_000;

/** Gathers keys and writes them as runs. */
interface RunWriter {
  add(keys: readonly string[]): Promise<void>;
  /** Writes what is left. @returns runs written, those before included */
  end(): Promise<number>;
}

/** @param runs number of the runs that are there */
export function runWriter(s3: S3Client, directory: S3Location, runs: number): RunWriter {
  let waiting: string[] = [];
  let characters = 0;
  let written = runs;
  const flush = async () => {
    if (waiting.length === 0) return;
    const keys = waiting.sort();
    const lines = Readable.from(linesOf(keys));
    const body = await buffer(lines.pipe(createGzip({ level: 1 })));
    await writeObject(s3, runPlace(directory, written), body);
    written += 1;
    waiting = [];
    characters = 0;
  };
  return {
    async add(keys) {
      for (const key of keys) {
        waiting.push(toSortable(key));
        characters += key.length;
      }
      if (characters >= RUN_CHARACTERS) await flush();
    },
    async end() {
      await flush();
      return written;
    },
  };
}

function* linesOf(keys: readonly string[]): Generator<string> {
  for (let at = 0; at < keys.length; at += PAGE) {
    yield `${JSON.stringify(keys.slice(at, at + PAGE))}\n`;
  }
}

function runPlace({ bucket, key }: S3Location, run: number): S3Location {
  return { bucket, key: `${key}${String(run).padStart(6, '0')}.gz` };
}

/** Pages of all keys after one, sorted, each key once. */
export async function* mergeRuns(
  s3: S3Client,
  directory: S3Location,
  runs: number,
  after: string,
): AsyncGenerator<readonly string[]> {
  const streams = Array.from({ length: runs }, (_, run) =>
    pagesOf(s3, runPlace(directory, run), toSortable(after)),
  );
  for await (const page of mergeSorted(streams, (key) => key)) yield page.map(fromSortable);
}

/** Pages of the keys of a run that come after one; none is empty. */
async function* pagesOf(
  s3: S3Client,
  place: S3Location,
  after: string,
): AsyncGenerator<readonly string[], undefined> {
  // In ranges: a response that waits for hundreds of other runs would be cut off.
  const ranges = Readable.from(readRanges(s3, place), { highWaterMark: 1 });
  const text = pipeline(ranges, createGunzip(), () => undefined);
  text.setEncoding('utf8');
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const keys = JSON.parse(line) as string[];
      const first = (keys.at(-1) as string) <= after ? keys.length : firstAfter(keys, after);
      if (first < keys.length) yield first === 0 ? keys : keys.slice(first);
    }
  }
}

function firstAfter(keys: readonly string[], after: string): number {
  return keys.findIndex((key) => key > after);
}
