/** The parts of a range: gathered row by row, written once each and in order. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  BatchError,
  type KeyLine,
  type KeysHeader,
  type PackFormat,
  partFiles,
  sha256Of,
  type WorkerCounts,
} from '@sagemaker-tfs/batch';
import type { Store } from './store.ts';

/** What became of one input. */
export interface Row {
  /** Its whole key. */
  readonly key: string;
  /** Its key below the root of the inputs. */
  readonly name: string;
  /** True if it was deleted before it was read. */
  readonly isGone?: true;
  /** NDJSON of its answers or of its error; of a part that is packed, its record, or nothing. */
  readonly body: string | Uint8Array;
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

/** Where parts go, and how large they get. */
export interface PartOptions {
  readonly range: number;
  /** Number of the first. */
  readonly first: number;
  readonly partKeys: number;
  readonly partBytes: number;
  /** Framing of the records; undefined for answers. */
  readonly pack: PackFormat | undefined;
  /** Told what each part has once it is written. */
  readonly onWritten: (counts: WorkerCounts) => void;
}

/** Writes the rows of a range. */
interface PartWriter {
  /** Resolves when there is room for more: one part is filled while the one before it is written. */
  add(row: Row): Promise<void>;
  /** Writes what is left. */
  finish(): Promise<void>;
}

/** A part under way. */
interface Part {
  readonly bodies: (string | Uint8Array)[];
  readonly keys: KeyLine[];
  /** Bytes; of text, characters. */
  size: number;
  answers: number;
  failures: number;
  gone: number;
  last: string;
}

const compress = promisify(gzip);

/** Characters that are one string, which is faster than many small buffers. */
const LONGEST_TEXT = 2 ** 28;

/** @throws BatchError OTHER_WORKER from either function, where a part is there already */
export function partWriter(store: Store, options: PartOptions): PartWriter {
  const { partKeys, partBytes, pack } = options;
  let number = options.first;
  let part = newPart();
  let writing: Promise<void> = Promise.resolve();
  const cut = async () => {
    const [full, at] = [part, number++];
    part = newPart();
    await writing;
    writing = writePart(store, options, at, full);
    // Awaited before the next part, or at the end.
    writing.catch(() => undefined);
  };
  return {
    async add({ key, name, body, failure, isGone }) {
      // A packed file has a size that a request can carry.
      const isFull = pack && part.size > 0 && part.size + body.length > partBytes;
      if (isFull) await cut();
      part.last = key;
      if (isGone) {
        part.gone++;
        part.keys.push([name]);
      } else {
        part[failure ? 'failures' : 'answers']++;
        if (failure) part.keys.push([name, failure.code, failure.message]);
        else part.keys.push(pack ? [name, part.size, body.length] : name);
        part.bodies.push(body);
        part.size += body.length;
      }
      if (part.keys.length >= partKeys || part.size >= partBytes) await cut();
    },
    async finish() {
      if (part.last !== '') await cut();
      await writing;
    },
  };
}

function newPart(): Part {
  return { bodies: [], keys: [], size: 0, answers: 0, failures: 0, gone: 0, last: '' };
}

/** The answers last: once they are there, the part counts, and the keys that this process has written are its keys. */
async function writePart(
  store: Store,
  { range, pack, onWritten }: PartOptions,
  number: number,
  { bodies, keys, size, answers, failures, gone, last }: Part,
): Promise<void> {
  const files = partFiles(range, number, store.writer, pack);
  const isJoined = !pack && size <= LONGEST_TEXT;
  const body = isJoined ? Buffer.from(bodies.join('')) : Buffer.concat(bodies.map(bytesOf));
  const header: KeysHeader = { answers, failures, gone, last, sha256: sha256Of(body) };
  const text = [header, ...keys].map((line) => `${JSON.stringify(line)}\n`).join('');
  await store.write(files.keys, await compress(text), 'application/gzip');
  const type = pack ? 'application/octet-stream' : 'application/x-ndjson';
  if (!(await store.create(files.body, body, type))) {
    // A role need not be allowed to: readers then look into the part.
    await store.remove(files.keys).catch(() => undefined);
    throw new BatchError(
      'OTHER_WORKER',
      `${files.body} is there already: another worker is at range ${range}. Let one of them end, then run this one again.`,
    );
  }
  onWritten({ answers, failures, gone });
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}
