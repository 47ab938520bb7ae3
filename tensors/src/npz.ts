/** NumPy's `.npz` archives: several arrays by name. */
import { TensorError } from './errors.ts';
import { type DecodeNpyOptions, decodeNpy, npySteps } from './npy.ts';
import { allSteps, type Steps, stepsInTurns } from './steps.ts';
import type { Tensor, TensorMap } from './tensor.ts';
import {
  contentInTurns,
  contentOf,
  type InTurns,
  openZip,
  type ZipFile,
  type ZipLimits,
} from './zip-reader.ts';
import { storedZip, storedZipInTurns, type ZipEntry } from './zip-writer.ts';

const SUFFIX = '.npy';

/**
 * Writes tensors as an uncompressed `.npz`, as `np.savez` does, in chunks; the tensors' bytes are not
 * copied, and start at multiples of 64 bytes.
 * @throws TensorError as `encodeNpy`, naming the tensor; TOO_LARGE beyond 4 GiB
 */
export function encodeNpz(tensors: TensorMap): Uint8Array[] {
  return storedZip(allSteps(entrySteps(tensors)));
}

/**
 * {@link encodeNpz} for servers: waits for `nextTurn` after every few thousand strings, and every few megabytes
 * of a checksum.
 */
export async function encodeNpzInTurns(
  tensors: TensorMap,
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array[]> {
  return storedZipInTurns(await stepsInTurns(entrySteps(tensors), nextTurn), nextTurn);
}

function* entrySteps(tensors: TensorMap): Steps<ZipEntry[]> {
  const entries: ZipEntry[] = [];
  for (const [name, tensor] of Object.entries(tensors)) {
    const steps = npySteps(tensor);
    let step = named(name, () => steps.next());
    while (!step.done) {
      yield;
      step = named(name, () => steps.next());
    }
    entries.push({ name: `${name}${SUFFIX}`, chunks: step.value });
  }
  return entries;
}

/** How an archive is read. */
export interface DecodeNpzOptions extends ZipLimits {
  /**
   * Asked of every array before any is decompressed, with the number of all; it throws where there should be none.
   * Default: all are read.
   */
  readonly wanted?: (name: string, count: number) => DecodeNpyOptions;
}

/**
 * Reads an `.npz`, stored or deflated; arrays of stored entries are views on `bytes` as `decodeNpy` returns
 * them.
 * @throws TensorError MALFORMED, TOO_LARGE, and as `decodeNpy`, naming the array
 */
export function decodeNpz(bytes: Uint8Array, options: DecodeNpzOptions): TensorMap {
  const tensors = arraysOf(bytes, options).map(
    ({ name, file, how }) => [name, named(name, () => decodeNpy(contentOf(file), how))] as const,
  );
  return Object.fromEntries(tensors);
}

/** Work on an archive that a server does not do all at once. */
export interface NpzInTurns extends InTurns {
  /** Does what {@link decodeNpy} does with an array's file, of that name in the archive. */
  decode(file: Uint8Array, name: string): Promise<Tensor>;
}

/** {@link decodeNpz} for servers: decompresses in other threads, sums up in turns, and leaves arrays to `decode`. */
export async function decodeNpzInTurns(
  bytes: Uint8Array,
  options: DecodeNpzOptions & NpzInTurns,
): Promise<TensorMap> {
  const tensors: [string, Tensor][] = [];
  for (const { name, file } of arraysOf(bytes, options)) {
    tensors.push([name, await options.decode(await contentInTurns(file, options), name)]);
  }
  return Object.fromEntries(tensors);
}

interface ArrayFile {
  readonly name: string;
  readonly file: ZipFile;
  readonly how: DecodeNpyOptions | undefined;
}

function arraysOf(bytes: Uint8Array, options: DecodeNpzOptions): ArrayFile[] {
  const files = openZip(bytes, options);
  const names = new Set<string>();
  return files.map((file) => {
    const name = file.name.endsWith(SUFFIX) ? file.name.slice(0, -SUFFIX.length) : file.name;
    if (names.has(name)) throw new TensorError('MALFORMED', `.npz archive holds "${name}" twice.`);
    names.add(name);
    return { name, file, how: options.wanted?.(name, files.length) };
  });
}

function named<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `"${name}": ${error.message}`, { cause: error });
  }
}
