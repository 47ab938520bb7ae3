/** Captures of an endpoint, from files or from S3. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { listObjects, readText } from '@sagemaker-tfs/batch/s3';
import { type Capture, parseCapture } from '@sagemaker-tfs/container/captures';
import { TensorError } from '@sagemaker-tfs/tensors';
import { CommandError, cannotRead } from '../errors.ts';

/** Which captures to read. */
export interface CaptureChoice {
  /** A `.jsonl` file, a folder or `s3://BUCKET/PREFIX`. */
  readonly source: string;
  /** Files of S3 that were written in this many hours. Default: all. */
  readonly hours?: number | undefined;
  /** Name of the variant; captures lie in a folder of that name. Default: all. */
  readonly variant?: string | undefined;
  /** Captures at most. */
  readonly most: number;
}

/** Larger files are refused: SageMaker writes one for a few minutes. */
const MAX_BYTES = 256 * 1024 ** 2;

interface CaptureFile {
  readonly name: string;
  readonly size: number;
  read(): Promise<string>;
}

/**
 * Yields captures, newest files of S3 last.
 * @throws CommandError FILE_NOT_FOUND, INPUT_EMPTY, CAPTURE_INVALID
 */
export async function* captures(
  s3: () => S3Client,
  choice: CaptureChoice,
): AsyncGenerator<Capture> {
  const { source, variant, most } = choice;
  const files = source.startsWith('s3://') ? objectFiles(s3(), choice) : localFiles(source);
  let count = 0;
  for await (const file of files) {
    if (!file.name.endsWith('.jsonl')) continue;
    if (variant !== undefined && !file.name.split('/').includes(variant)) continue;
    for (const capture of await read(file)) {
      yield capture;
      if (++count >= most) return;
    }
  }
  if (count > 0) return;
  const of = variant === undefined ? '' : ` of variant ${variant}`;
  throw new CommandError(
    'INPUT_EMPTY',
    `${source} holds no captures${of}. Name a folder or prefix with .jsonl files of SageMaker's data capture.`,
  );
}

async function read({ name, size, read }: CaptureFile): Promise<Capture[]> {
  if (size > MAX_BYTES) {
    throw new CommandError(
      'CAPTURE_INVALID',
      `${name} has ${Math.ceil(size / 1024 ** 2)} MiB, and 256 are read. Split the file.`,
    );
  }
  const lines = (await read()).split('\n');
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [parseCapture(line)];
    } catch (cause) {
      if (!(cause instanceof TensorError)) throw cause;
      throw new CommandError(
        'CAPTURE_INVALID',
        `${name}: line ${i + 1} is no capture of SageMaker. Give files that data capture wrote.`,
      );
    }
  });
}

async function* localFiles(source: string): AsyncGenerator<CaptureFile> {
  const found = await stat(source).catch(cannotRead(source));
  const names = found.isDirectory()
    ? (await readdir(source, { recursive: true })).sort().map((name) => join(source, name))
    : [source];
  for (const name of names) {
    const { size, isFile } = await stat(name).then((one) => ({
      size: one.size,
      isFile: one.isFile(),
    }));
    if (isFile) yield { name, size, read: () => readFile(name, 'utf8') };
  }
}

async function* objectFiles(
  s3: S3Client,
  { source, hours }: CaptureChoice,
): AsyncGenerator<CaptureFile> {
  const { bucket, key } = parseS3Uri(source);
  const since = hours === undefined ? 0 : Date.now() - hours * 3_600_000;
  for await (const object of listObjects(s3, { bucket, key })) {
    if (object.modified < since) continue;
    const { size } = object;
    yield { name: object.key, size, read: () => readText(s3, { bucket, key: object.key }) };
  }
}
