/** Outputs to fetch: below an S3 prefix or below a folder. */
import { readFile } from 'node:fs/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { asDirectory, inputOfOutput, parseS3Uri } from '@sagemaker-tfs/batch';
import { listObjects } from '@sagemaker-tfs/batch/s3';
import { folderSource } from '../../local/inputs.ts';

/** One output. */
export interface OutputObject {
  /** Key of its input. */
  readonly key: string;
  read(): Promise<Uint8Array>;
}

/** Outputs below an S3 prefix, in the order of their keys. */
export async function* s3Outputs(s3: S3Client, uri: string): AsyncGenerator<OutputObject> {
  const place = asDirectory(parseS3Uri(uri));
  for await (const { key } of listObjects(s3, place)) {
    const input = inputOfOutput(key.slice(place.key.length));
    if (input === undefined) continue;
    yield {
      key: input,
      async read() {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket: place.bucket, Key: key }));
        return (await Body?.transformToByteArray()) ?? new Uint8Array();
      },
    };
  }
}

/** Outputs of a local job. @throws CommandError FILE_NOT_FOUND */
export async function* folderOutputs(directory: string): AsyncGenerator<OutputObject> {
  for await (const { key, path } of folderSource(directory).list()) {
    const input = inputOfOutput(key);
    if (input === undefined) continue;
    yield { key: input, read: () => readFile(path) };
  }
}
