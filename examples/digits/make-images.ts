/**
 * Writes MNIST's test digits as picture files, for batch runs:
 *
 *     node --import tsx examples/digits/make-images.ts DIRECTORY [--count 10000] [--format jpeg|png]
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { type Digit, SIDE, testDigits } from './mnist.ts';

/** A picture file's format. */
export type ImageFormat = 'jpeg' | 'png';

/** What {@link writeTestDigits} can be told. */
export interface WriteOptions {
  /** How many digits, from the first. Default: all 10,000. */
  readonly count?: number;
  /** Default: `jpeg`. */
  readonly format?: ImageFormat;
  /** Called after each batch of files with how many are there. */
  readonly onProgress?: (written: number) => void;
}

const BATCH = 200;

/**
 * Writes one file a digit, `00012-9.jpg` for test digit 12, which is a 9. Files that are there already are
 * kept, so that a run that was interrupted continues; none is ever half written.
 * @returns the digit that each file shows, by file name
 */
export async function writeTestDigits(
  directory: string,
  { count = Infinity, format = 'jpeg', onProgress }: WriteOptions = {},
): Promise<Record<string, number>> {
  mkdirSync(directory, { recursive: true });
  const present = new Set(readdirSync(directory));
  const digits = testDigits().slice(0, count);
  for (let start = 0; start < digits.length; start += BATCH) {
    const batch = digits.slice(start, start + BATCH);
    const missing = batch.filter((digit) => !present.has(fileName(digit, format)));
    await Promise.all(missing.map((digit) => writeDigit(directory, digit, format)));
    onProgress?.(start + batch.length);
  }
  return Object.fromEntries(digits.map((digit) => [fileName(digit, format), digit.label]));
}

/** `00012-9.jpg`: place in the test set, digit, format. */
export function fileName({ index, label }: Digit, format: ImageFormat): string {
  return `${String(index).padStart(5, '0')}-${label}.${format === 'jpeg' ? 'jpg' : 'png'}`;
}

/** A gray picture of the digit, each pixel `scale` x `scale` pixels. */
export async function encodeDigit(
  { pixels }: Digit,
  format: ImageFormat,
  scale = 1,
): Promise<Buffer> {
  const side = SIDE * scale;
  const image = sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 1 } })
    .resize(side, side, { kernel: 'nearest' })
    .toColorspace('b-w');
  return format === 'jpeg' ? image.jpeg({ quality: 92 }).toBuffer() : image.png().toBuffer();
}

async function writeDigit(directory: string, digit: Digit, format: ImageFormat): Promise<void> {
  const path = join(directory, fileName(digit, format));
  await writeFile(`${path}.part`, await encodeDigit(digit, format));
  await rename(`${path}.part`, path);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { count: { type: 'string' }, format: { type: 'string', default: 'jpeg' } },
  });
  const [directory] = positionals;
  const { count, format } = values;
  if (!directory || (format !== 'jpeg' && format !== 'png') || !/^\d*$/.test(count ?? '')) {
    console.error('usage: make-images.ts DIRECTORY [--count 10000] [--format jpeg|png]');
    process.exitCode = 2;
    return;
  }
  const labels = await writeTestDigits(directory, { format, ...(count && { count: +count }) });
  console.log(`${Object.keys(labels).length} digits in ${directory}`);
}

if (process.argv[1] === import.meta.filename) void main();
