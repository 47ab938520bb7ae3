/** A file of answers, and beside it one of the errors among them. */
import type { Answer } from '@sagemaker-tfs/batch';
import { deadLetterFile, deadLettersOf } from './dead-letters.ts';
import { type PartFiles, type Partition, writePartitions } from './partitions.ts';
import { tableOf } from './table.ts';
import { type FileFormat, type TableOptions, writeAnswers } from './write-file.ts';

/** What a file holds. */
export interface Counts {
  /** Inputs that have an answer, an error in its place, or an empty output. */
  outputs: number;
  answers: number;
  /** Errors instead of answers. */
  errors: number;
  /** Outputs that hold nothing, as those of inputs without records: no row is theirs. */
  empty: number;
}

/** Where to, and how. */
interface CountedFile extends TableOptions {
  readonly path: string;
  /** File of the errors, which is not there if there are none. */
  readonly lettersPath: string;
  readonly format: FileFormat;
  /** Parts the table into Parquet files, in place of the one file. */
  readonly partition?: (PartFiles & { readonly of: Partition }) | undefined;
}

/**
 * Writes both files, or neither.
 * @param objects the answers of each object; sees what has been counted of those before
 */
export async function writeCounted(
  objects: (counts: Readonly<Counts>) => AsyncIterable<readonly Answer[]>,
  { path, lettersPath, format, partition, ...table }: CountedFile,
): Promise<Counts & { readonly hasLetters: boolean }> {
  const letters = deadLetterFile(lettersPath);
  const counts: Counts = { outputs: 0, answers: 0, errors: 0, empty: 0 };
  let hasLetters = false;
  async function* counted(): AsyncGenerator<Answer> {
    let last: string | undefined;
    for await (const answers of objects(counts)) {
      const found = deadLettersOf(answers);
      hasLetters ||= found.length > 0;
      await letters.add(found);
      for (const answer of answers) {
        counts[answer.isEmpty ? 'empty' : answer.isError ? 'errors' : 'answers']++;
        if (answer.key !== last) counts.outputs++;
        last = answer.key;
        if (!answer.isEmpty) yield answer;
      }
    }
  }
  try {
    if (partition) {
      const { columns, metadata } = table;
      await writePartitions(await tableOf(counted(), columns, metadata), partition.of, partition);
    } else {
      await writeAnswers(counted(), path, format, table);
    }
  } catch (error) {
    await letters.discard();
    throw error;
  }
  await letters.commit();
  return { ...counts, hasLetters };
}
