/** The compressions of Parquet's pages. */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { unsnapped } from './snappy.ts';
import { bad } from './thrift.ts';

/** As Node's own; each comes twice. */
interface Unpacking {
  readonly atOnce: (bytes: Uint8Array, options: Options) => Uint8Array;
  readonly aside: (bytes: Uint8Array, options: Options) => Promise<Uint8Array>;
}

interface Options {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

type Callback = (error: Error | null, plain: Uint8Array) => void;

/** Node 22.15 and later have it. */
const { zstdDecompress, zstdDecompressSync } = zlib as {
  readonly zstdDecompress?: (bytes: Uint8Array, options: Options, done: Callback) => void;
  readonly zstdDecompressSync?: Unpacking['atOnce'];
};

const [UNCOMPRESSED, SNAPPY, GZIP, BROTLI, ZSTD] = [0, 1, 2, 4, 6];
const UNPACKINGS = new Map<number | undefined, Unpacking>([
  [GZIP, { atOnce: zlib.gunzipSync, aside: promisify(zlib.gunzip) as Unpacking['aside'] }],
  [
    BROTLI,
    {
      atOnce: zlib.brotliDecompressSync,
      aside: promisify(zlib.brotliDecompress) as Unpacking['aside'],
    },
  ],
  ...(zstdDecompress && zstdDecompressSync
    ? [[ZSTD, { atOnce: zstdDecompressSync, aside: promisify(zstdDecompress) }] as const]
    : []),
]);

/** Bytes that are unpacked at a time. */
const MAX_CHUNK = 2 ** 20;
/** Up to this size, packed and unpacked, a page takes less time than a task of another thread: some 20 microseconds. */
const AT_ONCE_BYTES = 2 ** 16;

/**
 * Unpacks a page, at most to the size that it says.
 * @param codec by its number in parquet.thrift
 * @throws TensorError for a compression that is not read; zlib's error
 */
export async function unpack(codec: number, bytes: Uint8Array, size: number): Promise<Uint8Array> {
  if (codec === UNCOMPRESSED) return bytes;
  if (codec === SNAPPY) return unsnapped(bytes, size);
  const unpacking = UNPACKINGS.get(codec);
  if (!unpacking) {
    throw bad(
      'is compressed in a way that is not read here. Use snappy, gzip, brotli, zstd (Node 22.15 and later), or none',
    );
  }
  const options = {
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.max(64, Math.min(size, MAX_CHUNK)),
  };
  const isSmall = Math.max(size, bytes.byteLength) <= AT_ONCE_BYTES;
  return isSmall ? unpacking.atOnce(bytes, options) : unpacking.aside(bytes, options);
}
