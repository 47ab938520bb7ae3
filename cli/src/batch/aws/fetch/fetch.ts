/** Streams the outputs of a job into one file. */
import { Readable } from 'node:stream';
import type { Answer } from '@sagemaker-tfs/batch';
import { noOutputs } from '../../../errors.ts';
import { type Counts, writeCounted } from './counted-file.ts';
import { collectDeadLetters, type DeadLetters } from './dead-letters.ts';
import type { OutputObject, OutputSource } from './source.ts';
import type { Metadata } from './table.ts';
import type { FileFormat } from './write-file.ts';

/** What was fetched. */
export interface FetchReport extends Readonly<Counts> {
  readonly file: string;
  /** Absent if no answer, and no record of one, is an error. */
  readonly deadLetters?: DeadLetters;
}

/** How to fetch. */
export interface FetchOptions {
  readonly file: string;
  readonly format: FileFormat;
  /** S3 URI that the inputs' keys are below, if it is known. */
  readonly inputPrefix?: string | undefined;
  /** What else is known of the inputs. */
  readonly metadata?: Metadata | undefined;
  readonly onProgress?: (outputs: number) => void;
}

/**
 * Reads many outputs at once and writes them in their order; errors in their place go into `<file>.dead-letters.ndjson` too.
 * @throws CommandError OUTPUT_EMPTY if there is none
 */
export async function fetchOutputs(
  { objects, reads }: OutputSource,
  { file, format, inputPrefix, metadata, onProgress = () => undefined }: FetchOptions,
): Promise<FetchReport> {
  const lettersPath = `${file}.dead-letters.ndjson`;
  const read = (object: OutputObject) => object.read();
  async function* inOrder(counts: Readonly<Counts>): AsyncGenerator<readonly Answer[]> {
    for await (const answers of Readable.from(objects).map(read, { concurrency: reads })) {
      yield answers as Answer[];
      onProgress(counts.outputs);
    }
    if (counts.outputs === 0) throw noOutputs();
  }
  const { hasLetters, ...counts } = await writeCounted(inOrder, {
    path: file,
    lettersPath,
    format,
    metadata,
  });
  const files = hasLetters ? [lettersPath] : [];
  const deadLetters = await collectDeadLetters(files, `${file}.redrive.manifest`, inputPrefix);
  return { ...counts, file, ...(deadLetters && { deadLetters }) };
}
