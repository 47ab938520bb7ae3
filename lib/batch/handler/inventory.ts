/**
 * An S3 inventory: its `manifest.json` and the gzipped CSV files that this names.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html
 */

import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { isPassing, openObject } from '@sagemaker-tfs/batch/s3';
import { fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import * as z from 'zod';
import { ConstructError } from '../../errors.ts';
import { readJson } from './storage.ts';

/** What is read of an inventory. */
export interface Inventory {
  /** Bucket of the data files: the manifest's own. */
  readonly bucket: string;
  /** Keys of the data files. */
  readonly files: readonly string[];
  /** Names of the columns, such as `Key` and `IsLatest`. */
  readonly columns: readonly string[];
}

const schema = z.object({
  sourceBucket: z.string(),
  fileFormat: z.string(),
  fileSchema: z.string(),
  files: z.array(z.object({ key: z.string().min(1) })),
});

/**
 * Reads the manifest.
 * @param bucket the bucket that must have been counted
 * @throws ConstructError INVENTORY_INVALID for another bucket or another format than CSV, INVENTORY_NOT_READ
 */
export async function readInventory(s3: S3Client, uri: string, bucket: string): Promise<Inventory> {
  const place = parseS3Uri(uri);
  const json = await readJson(s3, place, z.unknown()).catch((cause: unknown) => {
    if (isPassing(cause)) throw cause;
    throw new ConstructError(
      'INVENTORY_NOT_READ',
      `cannot read the inventory ${uri}: ${sentence((cause as Error).message)} See that the role may read it.`,
      { cause },
    );
  });
  const { success, data, error } = schema.safeParse(json, { error: fieldWords });
  if (!success) {
    throw invalid(
      `${uri} is not the manifest.json of an S3 inventory: ${sentence(wrongFields(error).join('; '))} Name the manifest.json of an inventory.`,
    );
  }
  if (data.fileFormat.toUpperCase() !== 'CSV') {
    throw invalid(
      `the inventory ${uri} is in ${data.fileFormat}, and only CSV is read. Configure a CSV inventory, or leave out inventoryUri.`,
    );
  }
  if (data.sourceBucket !== bucket) {
    throw invalid(
      `the inventory ${uri} lists bucket ${data.sourceBucket}, but inputUri is in ${bucket}. Give an inventory of ${bucket}.`,
    );
  }
  const columns = data.fileSchema.split(',').map((name) => name.trim());
  if (!columns.includes('Key')) {
    throw invalid(
      `the inventory ${uri} has no column Key, only ${columns.join(', ')}. Configure it again.`,
    );
  }
  return { bucket: place.bucket, files: data.files.map(({ key }) => key), columns };
}

function invalid(message: string): ConstructError {
  return new ConstructError('INVENTORY_INVALID', message);
}

/**
 * Keys of a data file, in its order, many at a time: current versions that are no delete markers.
 * @throws ConstructError INVENTORY_NOT_READ, naming the file and the row
 */
export async function* inventoryKeys(
  s3: S3Client,
  { bucket, columns }: Inventory,
  file: string,
): AsyncGenerator<readonly string[]> {
  const [key, latest, marker] = ['Key', 'IsLatest', 'IsDeleteMarker'].map((name) =>
    columns.indexOf(name),
  ) as [number, number, number];
  let row = 0;
  const keyOf = (line: string): string[] => {
    row++;
    if (line === '') return [];
    const fields = fieldsOf(line, columns.length);
    if (fields.length !== columns.length) {
      throw invalid(`${fields.length} fields instead of ${columns.length}.`);
    }
    if (fields[latest]?.toLowerCase() === 'false') return [];
    if (fields[marker]?.toLowerCase() === 'true') return [];
    return [decodeKey(fields[key] as string)];
  };
  try {
    for await (const lines of linesOf(await openObject(s3, { bucket, key: file }), file)) {
      yield lines.flatMap(keyOf);
    }
  } catch (cause) {
    // The function is called again.
    if (isPassing(cause)) throw cause;
    const message = (cause as Error).message;
    throw new ConstructError(
      'INVENTORY_NOT_READ',
      `cannot read the inventory's s3://${bucket}/${file} after row ${row}: ${sentence(message)} Start the run again.`,
      {
        cause,
      },
    );
  }
}

/** Keys are URL-encoded, with `+` for a space. */
function decodeKey(text: string): string {
  // A copy in any case: a part of the file's text would keep all of it in memory.
  return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** Fields of a line of CSV; S3 quotes each, and none holds a quotation mark. */
function fieldsOf(line: string, wanted: number): string[] {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  const quoted = text.slice(1, -1).split('","');
  if (quoted.length === wanted && text.startsWith('"') && text.endsWith('"')) return quoted;
  return text
    .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((field) => field.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'));
}

async function* linesOf(body: Readable, file: string): AsyncGenerator<readonly string[]> {
  const text: Readable = file.endsWith('.gz')
    ? pipeline(body, createGunzip(), () => undefined)
    : body;
  text.setEncoding('utf8');
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  yield [rest];
}
