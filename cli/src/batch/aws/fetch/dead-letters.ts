/**
 * Errors instead of answers: of a worker, `{"code", "message"}` for a whole input; of a transform job whose model has
 * `SAGEMAKER_TFS_BAD_RECORD=answer`, a row `{"error": "..."}` among the others, or one that the mask of an npz names.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Answer, errorOfRow, rowsOf, textLines } from '@sagemaker-tfs/batch';
import { parseJson } from '@sagemaker-tfs/tensors';
import * as z from 'zod';
import { placeOf } from '../../../output/place.ts';
import { openJsonArray } from '../../json-array-file.ts';
import { maskedRecords } from './masked-records.ts';

/** One error. */
export interface DeadLetter {
  /** Key of the input. */
  readonly key: string;
  /** Number of the record in the input, from 0; absent for an error of the whole input. */
  readonly record?: number | undefined;
  /** Of a worker. */
  readonly code?: string | undefined;
  readonly message: string;
}

const letterSchema = z.object({
  key: z.string(),
  record: z.number().optional(),
  code: z.string().optional(),
  message: z.string(),
});
const wholeSchema = z.object({ code: z.string().optional(), message: z.string() });
const MASKED =
  'this record has no answer, and npz has no room for the reason. Send the record alone, or accept JSON.';

/** The errors in what one object holds, in its order. */
export function deadLettersOf(answers: readonly Answer[]): DeadLetter[] {
  return Array.from(byInput(answers)).flatMap((own) =>
    // Most answers are not looked into.
    own.some(({ json, isError }) => isError || json.includes('error') || maskedRecords(json))
      ? lettersOfInput(own[0]?.key ?? '', own)
      : [],
  );
}

/** The answers to each input, which stand together. */
function* byInput(answers: readonly Answer[]): Iterable<readonly Answer[]> {
  let from = 0;
  for (const [at, { key }] of answers.entries()) {
    if (answers[at + 1]?.key === key) continue;
    yield answers.slice(from, at + 1);
    from = at + 1;
  }
}

/** Records are counted over all answers to an input: a request may have carried several. */
function lettersOfInput(key: string, answers: readonly Answer[]): DeadLetter[] {
  let record = 0;
  return answers.flatMap((answer): DeadLetter[] => {
    const { json, isError } = answer;
    if (isError) {
      const whole = wholeSchema.safeParse(parseJson(json));
      return [{ key, ...(whole.success ? whole.data : { message: json }) }];
    }
    const masked = maskedRecords(json);
    if (masked) {
      const first = record;
      record += masked.length;
      return masked.flatMap((isBad, at) =>
        isBad ? [{ key, record: first + at, message: MASKED }] : [],
      );
    }
    return rowsOf(answer).flatMap((row): DeadLetter[] => {
      const number = record++;
      const message = errorOfRow(row);
      return message === undefined ? [] : [{ key, record: number, message }];
    });
  });
}

/** A file of dead letters, a JSON object a line; it is there as a whole, or not at all if there are none. */
export interface DeadLetterFile {
  add(letters: readonly DeadLetter[]): Promise<void>;
  /** Puts the file in place; removes one of an earlier time if there are no letters. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export function deadLetterFile(path: string): DeadLetterFile {
  let [place, partial] = ['', ''];
  let file: Awaited<ReturnType<typeof open>> | undefined;
  return {
    async add(letters) {
      if (letters.length === 0) return;
      if (file === undefined) {
        place = await placeOf(path);
        partial = `${place}.${process.pid}.partial`;
        await mkdir(dirname(place), { recursive: true });
        file = await open(partial, 'w');
      }
      await file.write(letters.map((letter) => `${JSON.stringify(letter)}\n`).join(''));
    },
    async commit() {
      if (file === undefined) return rm(path, { force: true });
      await file.datasync().finally(() => file?.close());
      await rename(partial, place);
    },
    async discard() {
      await file?.close();
      if (file) await rm(partial, { force: true });
    },
  };
}

/** What a fetch found instead of answers. */
export interface DeadLetters {
  /** Errors. */
  readonly letters: number;
  /** Inputs with at least one. */
  readonly inputs: number;
  /** The files with a line for each. */
  readonly files: readonly string[];
  /** Manifest of the inputs, for another job; absent where the prefix of the inputs is not known. */
  readonly redriveManifest?: string;
}

/**
 * Counts the letters of files, and lists their inputs as a manifest of SageMaker.
 * @param files in which an input's letters stand together
 * @param prefix S3 URI that the inputs' keys are below
 * @returns undefined if there are none
 */
export async function collectDeadLetters(
  files: readonly string[],
  manifestPath: string,
  prefix: string | undefined,
): Promise<DeadLetters | undefined> {
  if (files.length === 0) {
    await rm(manifestPath, { force: true });
    return undefined;
  }
  const manifest = await openJsonArray(manifestPath);
  const found = { letters: 0, inputs: 0 };
  let last: string | undefined;
  try {
    await manifest.add({ prefix });
    for (const file of files) {
      for await (const line of textLines(createReadStream(file))) {
        const { key } = letterSchema.parse(JSON.parse(line));
        found.letters++;
        if (key === last) continue;
        found.inputs++;
        last = key;
        await manifest.add(key);
      }
    }
  } catch (error) {
    await manifest.discard();
    throw error;
  }
  await (prefix === undefined ? manifest.discard() : manifest.commit());
  return { ...found, files, ...(prefix !== undefined && { redriveManifest: manifestPath }) };
}
