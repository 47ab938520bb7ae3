/**
 * SageMaker's manifest: `[{"prefix": "s3://bucket/prefix/"}, "key below it", ...]`.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
 */
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../errors.ts';

/** A list of inputs below one prefix. */
export interface InputList {
  readonly prefix: string;
  /** Without repetitions, in the manifest's order. */
  readonly keys: readonly string[];
  /** Keys that the manifest names more than once; each is one input. */
  readonly duplicates: readonly string[];
}

const schema = z.tuple([z.strictObject({ prefix: z.string() })], z.string().min(1));

/** Reads a manifest. @param source where it came from, for the message. @throws CommandError MANIFEST_INVALID */
export function parseManifest(text: string, source: string): InputList {
  const [{ prefix }, ...listed] = parse(text, source);
  const keys = new Set<string>();
  const duplicates = new Set<string>();
  for (const key of listed) (keys.has(key) ? duplicates : keys).add(key);
  return { prefix, keys: [...keys], duplicates: [...duplicates] };
}

function parse(text: string, source: string): z.output<typeof schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CommandError(
      'MANIFEST_INVALID',
      `${source} is not a manifest; write [{"prefix": "s3://BUCKET/PREFIX/"}, "KEY", ...]`,
      { cause: cause instanceof z.ZodError ? new Error(z.prettifyError(cause)) : cause },
    );
  }
}

/** A JSON array that is written item by item: of any length, and there as a whole or not at all. */
export interface JsonArrayFile {
  add(item: unknown): Promise<void>;
  /** Puts the file in place. */
  commit(): Promise<void>;
  /** Leaves no file. */
  discard(): Promise<void>;
}

/** Bytes gathered before they are written. */
const BUFFER = 64 * 1024;

/** Starts an array in a file. */
export async function openJsonArray(path: string): Promise<JsonArrayFile> {
  const partial = `${path}.${process.pid}.partial`;
  await mkdir(dirname(path), { recursive: true });
  const file: FileHandle = await open(partial, 'w');
  let waiting = '[';
  let separator = '';
  let writing: Promise<unknown> = Promise.resolve();
  // One write after the other: several parts of a job add to the array at the same time.
  const flush = async () => {
    const text = waiting;
    waiting = '';
    writing = writing.then(() => file.write(text));
    await writing;
  };
  return {
    async add(item) {
      waiting += `${separator}\n${JSON.stringify(item)}`;
      separator = ',';
      if (waiting.length > BUFFER) await flush();
    },
    async commit() {
      waiting += '\n]\n';
      await flush();
      await file.close();
      await rename(partial, path);
    },
    async discard() {
      await file.close();
      await rm(partial, { force: true });
    },
  };
}
