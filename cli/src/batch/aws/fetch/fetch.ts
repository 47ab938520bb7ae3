/** Streams the outputs of a job into one file. */
import { Readable } from 'node:stream';
import { type Answer, answersOf } from '@sagemaker-tfs/batch';
import { CommandError } from '../../../errors.ts';
import type { OutputObject } from './source.ts';
import { type FileFormat, writeAnswers } from './write-file.ts';

/** Objects that are read at once. */
const READS = 16;

/** What was fetched. */
export interface FetchReport {
  readonly outputs: number;
  readonly answers: number;
  readonly file: string;
}

/**
 * Reads many outputs at once and writes them in their order.
 * @throws CommandError OUTPUT_EMPTY where there is none
 */
export async function fetchOutputs(
  outputs: AsyncIterable<OutputObject>,
  file: string,
  format: FileFormat,
  onProgress: (outputs: number) => void = () => undefined,
): Promise<FetchReport> {
  const counts = { outputs: 0, answers: 0 };
  const read = async ({ key, read: bytes }: OutputObject) => answersOf(key, await bytes());
  async function* answers(): AsyncGenerator<Answer> {
    for await (const some of Readable.from(outputs).map(read, { concurrency: READS })) {
      counts.outputs++;
      counts.answers += some.length;
      yield* some as Answer[];
      onProgress(counts.outputs);
    }
    if (counts.outputs === 0) {
      throw new CommandError('OUTPUT_EMPTY', 'there are no outputs (<name>.out) to fetch.');
    }
  }
  await writeAnswers(answers(), file, format);
  return { ...counts, file };
}
