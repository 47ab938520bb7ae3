/** Streams the outputs of a job into one file. */
import { Readable } from 'node:stream';
import type { Answer } from '@sagemaker-tfs/batch';
import { CommandError } from '../../../errors.ts';
import type { OutputObject, OutputSource } from './source.ts';
import { type FileFormat, writeAnswers } from './write-file.ts';

/** What was fetched. */
export interface FetchReport {
  /** Inputs that have an answer, or an error in its place. */
  readonly outputs: number;
  readonly answers: number;
  /** Errors in the place of answers. */
  readonly errors: number;
  readonly file: string;
}

/**
 * Reads many outputs at once and writes them in their order.
 * @throws CommandError OUTPUT_EMPTY where there is none
 */
export async function fetchOutputs(
  { objects, reads }: OutputSource,
  file: string,
  format: FileFormat,
  onProgress: (outputs: number) => void = () => undefined,
): Promise<FetchReport> {
  const counts = { outputs: 0, answers: 0, errors: 0 };
  const read = (object: OutputObject) => object.read();
  async function* answers(): AsyncGenerator<Answer> {
    let last: string | undefined;
    for await (const some of Readable.from(objects).map(read, { concurrency: reads })) {
      for (const answer of some as Answer[]) {
        counts[answer.isError ? 'errors' : 'answers']++;
        if (answer.key !== last) counts.outputs++;
        last = answer.key;
        yield answer;
      }
      onProgress(counts.outputs);
    }
    if (counts.outputs === 0) {
      throw new CommandError('OUTPUT_EMPTY', 'there are no outputs (<name>.out) to fetch.');
    }
  }
  await writeAnswers(answers(), file, format);
  return { ...counts, file };
}
