/** Streams the outputs of a job into one file. */
import { Readable } from 'node:stream';
import type { Answer } from '@sagemaker-tfs/batch';
import { noOutputs } from '../../../errors.ts';
import {
  collectDeadLetters,
  type DeadLetters,
  deadLetterFile,
  deadLettersOf,
} from './dead-letters.ts';
import type { OutputObject, OutputSource } from './source.ts';
import type { Metadata } from './table.ts';
import { type FileFormat, writeAnswers } from './write-file.ts';

/** What was fetched. */
interface FetchReport {
  /** Inputs that have an answer, or an error in its place. */
  readonly outputs: number;
  readonly answers: number;
  /** Errors instead of answers. */
  readonly errors: number;
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
  const lettersFile = `${file}.dead-letters.ndjson`;
  const letters = deadLetterFile(lettersFile);
  let hasLetters = false;
  const counts = { outputs: 0, answers: 0, errors: 0 };
  const read = (object: OutputObject) => object.read();
  async function* answers(): AsyncGenerator<Answer> {
    let last: string | undefined;
    for await (const some of Readable.from(objects).map(read, { concurrency: reads })) {
      const found = deadLettersOf(some as Answer[]);
      hasLetters ||= found.length > 0;
      await letters.add(found);
      for (const answer of some as Answer[]) {
        counts[answer.isError ? 'errors' : 'answers']++;
        if (answer.key !== last) counts.outputs++;
        last = answer.key;
        yield answer;
      }
      onProgress(counts.outputs);
    }
    if (counts.outputs === 0) {
      throw noOutputs();
    }
  }
  try {
    await writeAnswers(answers(), file, format, { metadata });
  } catch (error) {
    await letters.discard();
    throw error;
  }
  await letters.commit();
  const files = hasLetters ? [lettersFile] : [];
  const deadLetters = await collectDeadLetters(files, `${file}.redrive.manifest`, inputPrefix);
  return { ...counts, file, ...(deadLetters && { deadLetters }) };
}
