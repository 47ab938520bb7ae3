/** The parts of a range: gathered row by row, written once each and in order. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  BatchError,
  type KeyLine,
  type KeysHeader,
  partFiles,
  type WorkerCounts,
} from '@sagemaker-tfs/batch';
import type { Store } from './store.ts';

/** What became of one input. */
export interface Row {
  /** Its whole key. */
  readonly key: string;
  /** Its key below the root of the inputs; undefined if it was deleted before it was read. */
  readonly name: string | undefined;
  /** NDJSON: its answers, or its error. */
  readonly lines: string;
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

/** Where parts go, and how large they get. */
export interface PartOptions {
  readonly range: number;
  /** Number of the first. */
  readonly first: number;
  readonly partKeys: number;
  readonly partBytes: number;
  /** Told what each part has once it is written. */
  readonly onWritten: (counts: WorkerCounts) => void;
}

/** Writes the rows of a range. */
export interface PartWriter {
  /** Resolves when there is room for more: one part is filled while the one before it is written. */
  add(row: Row): Promise<void>;
  /** Writes what is left. */
  finish(): Promise<void>;
}

/** A part under way. */
interface Part {
  readonly lines: string[];
  readonly keys: KeyLine[];
  chars: number;
  answers: number;
  failures: number;
  gone: number;
  last: string;
}

const compress = promisify(gzip);

/** @throws BatchError OTHER_WORKER from either function, where a part is there already */
export function partWriter(store: Store, options: PartOptions): PartWriter {
  const { partKeys, partBytes } = options;
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
    async add({ key, name, lines, failure }) {
      part.last = key;
      if (name === undefined) part.gone++;
      else {
        part[failure ? 'failures' : 'answers']++;
        part.keys.push(failure ? [name, failure.code, failure.message] : name);
        part.lines.push(lines);
        part.chars += lines.length;
      }
      if (part.keys.length >= partKeys || part.chars >= partBytes) await cut();
    },
    async finish() {
      if (part.last !== '') await cut();
      await writing;
    },
  };
}

function newPart(): Part {
  return { lines: [], keys: [], chars: 0, answers: 0, failures: 0, gone: 0, last: '' };
}

/** The answers last: once they are there, the part counts. */
async function writePart(
  store: Store,
  { range, onWritten }: PartOptions,
  number: number,
  { lines, keys, answers, failures, gone, last }: Part,
): Promise<void> {
  const files = partFiles(range, number);
  const header: KeysHeader = { answers, failures, gone, last };
  const text = [header, ...keys].map((line) => `${JSON.stringify(line)}\n`).join('');
  await store.write(files.keys, await compress(text), 'application/gzip');
  if (!(await store.create(files.answers, Buffer.from(lines.join('')), 'application/x-ndjson'))) {
    throw new BatchError(
      'OTHER_WORKER',
      `${files.answers} is there already: another worker is at range ${range}. Let one of them end, then run this one again.`,
    );
  }
  onWritten({ answers, failures, gone });
}
