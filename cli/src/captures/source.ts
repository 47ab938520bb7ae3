/** Captures of an endpoint, from files or from S3. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { listDated, readText } from '@sagemaker-tfs/batch/s3';
import {
  type Capture,
  type CaptureFile,
  type Coverage,
  parseCapture,
  sampleOf,
} from '@sagemaker-tfs/container/captures';
import { TensorError } from '@sagemaker-tfs/tensors';
import { CommandError, cannotRead } from '../errors.ts';
import { printable } from '../output/printable.ts';

/** Which captures to read. */
interface CaptureChoice {
  /** A `.jsonl` file, a folder or `s3://BUCKET/PREFIX`. */
  readonly source: string;
  /** Files of S3 that were written in this many hours. Default: all. */
  readonly hours?: number | undefined;
  /** Name of the variant; captures lie in a folder of that name. Default: all. */
  readonly variant?: string | undefined;
  /** Captures at most. */
  readonly maxCaptures: number;
  /** The first ones of each hour, so that those of two variants are of the same requests. Default: from all over it. */
  readonly inOrder?: boolean;
}

/** Larger files are refused: SageMaker writes one for a few minutes. */
const MAX_BYTES = 256 * 1024 ** 2;

/** Captures, and how many of how many they are. */
export interface ChosenCaptures {
  captures(): AsyncGenerator<Capture>;
  coverage(): Coverage;
}

/**
 * Chooses captures from all hours and variants.
 * @throws CommandError FILE_NOT_FOUND, INPUT_EMPTY, CAPTURE_INVALID
 */
export async function chooseCaptures(
  s3: () => S3Client,
  choice: CaptureChoice,
): Promise<ChosenCaptures> {
  const { source, variant, maxCaptures, inOrder } = choice;
  const all = source.startsWith('s3://') ? objectFiles(s3(), choice) : localFiles(source);
  const files: CaptureFile[] = [];
  for await (const file of all) {
    if (!file.name.endsWith('.jsonl')) continue;
    if (variant === undefined || file.name.split('/').includes(variant)) files.push(file);
  }
  const sample = sampleOf(files.map(refuseLarge), { max: maxCaptures, inOrder });
  async function* captures() {
    for await (const { text, file, number } of sample.lines()) yield parse(text, file, number);
    if (sample.coverage().captures > 0) return;
    const of = variant === undefined ? '' : ` of variant ${variant}`;
    throw new CommandError(
      'INPUT_EMPTY',
      `${source} holds no captures${of}. Name a folder or prefix with .jsonl files of SageMaker's data capture.`,
    );
  }
  return { captures, coverage: sample.coverage };
}

function refuseLarge({ name, size, read }: CaptureFile): CaptureFile {
  if (size <= MAX_BYTES) return { name, size, read };
  const refuse = async () => {
    throw new CommandError(
      'CAPTURE_INVALID',
      `${printable(name)} has ${Math.ceil(size / 1024 ** 2)} MiB, and 256 are read. Split the file.`,
    );
  };
  return { name, size, read: refuse };
}

function parse(text: string, file: string, number: number): Capture {
  try {
    return parseCapture(text);
  } catch (cause) {
    if (!(cause instanceof TensorError)) throw cause;
    throw new CommandError(
      'CAPTURE_INVALID',
      `${printable(file)}: line ${number} is no capture of SageMaker. Give files that data capture wrote.`,
    );
  }
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
  const since = hours === undefined ? undefined : Date.now() - hours * 3_600_000;
  for await (const object of listDated(s3, { bucket, key }, since)) {
    const { size } = object;
    yield { name: object.key, size, read: () => readText(s3, { bucket, key: object.key }) };
  }
}
