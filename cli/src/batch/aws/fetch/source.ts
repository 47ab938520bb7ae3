/** Outputs to fetch: below an S3 prefix or below a folder. */
import { readFile } from 'node:fs/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  type Answer,
  answersOf,
  asDirectory,
  BatchError,
  inputOfOutput,
  PARTS_FOLDER,
  parseAnswerLine,
  parseS3Uri,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { listObjects, readBytes } from '@sagemaker-tfs/batch/s3';
import { folderSource } from '../../local/inputs.ts';
import { readWorkerPlan } from '../worker-keys.ts';

/** An object with the answers to one input, or a worker's part with those to many. */
export interface OutputObject {
  read(): Promise<readonly Answer[]>;
}

/** Outputs in the order of their keys. */
export interface OutputSource {
  readonly objects: AsyncIterable<OutputObject>;
  /** Objects that are read at once. */
  readonly reads: number;
}

const READS = 16;
/** A part has many megabytes. */
const PART_READS = 2;

/** Outputs below an S3 prefix, of a transform job or of a worker. */
export async function s3Outputs(s3: S3Client, uri: string): Promise<OutputSource> {
  const place = asDirectory(parseS3Uri(uri));
  return (await readWorkerPlan(s3, uri))
    ? { objects: parts(s3, place), reads: PART_READS }
    : { objects: outputs(s3, place), reads: READS };
}

async function* outputs(s3: S3Client, place: S3Location): AsyncGenerator<OutputObject> {
  for await (const { key } of listObjects(s3, place)) {
    const input = inputOfOutput(key.slice(place.key.length));
    if (input === undefined) continue;
    yield { read: async () => answersOf(input, await readBytes(s3, { ...place, key })) };
  }
}

async function* parts(s3: S3Client, place: S3Location): AsyncGenerator<OutputObject> {
  for await (const { key } of listObjects(s3, { ...place, key: place.key + PARTS_FOLDER })) {
    yield {
      async read() {
        const text = Buffer.from(await readBytes(s3, { ...place, key })).toString('utf8');
        return text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => readLine(line, key));
      },
    };
  }
}

function readLine(line: string, key: string): Answer {
  const answer = parseAnswerLine(line);
  if (answer) return answer;
  throw new BatchError(
    'WORKER_FILE_INVALID',
    `${key} has a line that no worker wrote: ${line.slice(0, 100)}. Remove the object, or run the worker into another output prefix.`,
  );
}

/** Outputs of a local job. */
export function folderOutputs(directory: string): OutputSource {
  return { objects: files(directory), reads: READS };
}

/** @throws CommandError FILE_NOT_FOUND */
async function* files(directory: string): AsyncGenerator<OutputObject> {
  for await (const { key, path } of folderSource(directory).list()) {
    const input = inputOfOutput(key);
    if (input === undefined) continue;
    yield { read: async () => answersOf(input, await readFile(path)) };
  }
}
