/**
 * An S3 inventory: its `manifest.json` and the gzipped CSV files that this names.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html
 */

import { createHash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { BatchError } from '../errors.ts';
import { formatS3Uri, parseS3Uri, type S3Location } from '../s3-uri.ts';
import { httpStatusOf, isAbsent, isPassing } from './errors.ts';
import { openObject, readText } from './objects.ts';

/** What is read of an inventory. */
export interface Inventory {
  /** Text of its `manifest.json`. */
  readonly text: string;
  /** Bucket of the data files: the manifest's own. */
  readonly bucket: string;
  readonly files: readonly InventoryFile[];
  /** Names of the columns, such as `Key` and `IsLatest`. */
  readonly columns: readonly string[];
}

/** A data file, and what the manifest says of its bytes. */
export interface InventoryFile {
  readonly key: string;
  readonly size?: number | undefined;
  /** Hex. */
  readonly MD5checksum?: string | undefined;
}

const schema = z.object({
  sourceBucket: z.string(),
  fileFormat: z.string(),
  fileSchema: z.string(),
  files: z.array(
    z.object({
      key: z.string().min(1),
      size: z.number().optional(),
      MD5checksum: z.string().optional(),
    }),
  ),
});

/**
 * Reads the manifest.
 * @param bucket the bucket that must have been counted
 * @throws BatchError INVENTORY_INVALID for another bucket or another format than CSV, INVENTORY_NOT_READ
 */
export async function readInventory(s3: S3Client, uri: string, bucket: string): Promise<Inventory> {
  const place = parseS3Uri(uri);
  const text = await readText(s3, place).catch((cause: unknown) => {
    if (isPassing(cause)) throw cause;
    throw new BatchError(
      'INVENTORY_NOT_READ',
      `cannot read the inventory ${uri}: ${sentence(cause)} See that the role may read it.`,
      { cause },
    );
  });
  await checkManifest(s3, place, text);
  const data = parsed(text, uri);
  if (data.fileFormat.toUpperCase() !== 'CSV') {
    throw invalid(
      `the inventory ${uri} is in ${data.fileFormat}, and only CSV is read. Configure a CSV inventory, or name none.`,
    );
  }
  if (data.sourceBucket !== bucket) {
    throw invalid(
      `the inventory ${uri} lists bucket ${data.sourceBucket}, but the inputs are in ${bucket}. Give an inventory of ${bucket}.`,
    );
  }
  const columns = data.fileSchema.split(',').map((name) => name.trim());
  if (!columns.includes('Key')) {
    throw invalid(
      `the inventory ${uri} has no column Key, only ${columns.join(', ')}. Configure it again.`,
    );
  }
  return { text, bucket: place.bucket, files: data.files, columns };
}

/** S3 writes the manifest's own checksum beside it; whoever copies an inventory may leave it out, or allow nobody to read it. */
async function checkManifest(s3: S3Client, place: S3Location, text: string): Promise<void> {
  if (!place.key.endsWith(MANIFEST)) return;
  const checksum = { ...place, key: place.key.slice(0, -MANIFEST.length) + CHECKSUM };
  const said = await readText(s3, checksum).catch((error: unknown) => {
    if (isAbsent(error) || httpStatusOf(error) === 403) return undefined;
    throw error;
  });
  if (said === undefined || said.trim().toLowerCase() === md5Of(text)) return;
  throw invalid(
    `${formatS3Uri(place)} is not the manifest that ${formatS3Uri(checksum)} was written for (MD5 ${md5Of(text)} instead of ${said.trim().slice(0, 64)}). Name an inventory as S3 has written it.`,
  );
}

const MANIFEST = 'manifest.json';
const CHECKSUM = 'manifest.checksum';

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function parsed(text: string, uri: string): z.output<typeof schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const fields =
      cause instanceof z.ZodError ? cause.issues.map(({ path }) => path.join('.')) : [];
    const lacks = fields.length > 0 ? `: it has no valid ${fields.join(', ')}` : '';
    throw new BatchError(
      'INVENTORY_INVALID',
      `${uri} is not the manifest.json of an S3 inventory${lacks}. Name the manifest.json of an inventory.`,
      { cause },
    );
  }
}

function invalid(message: string): BatchError {
  return new BatchError('INVENTORY_INVALID', message);
}

function sentence(error: unknown): string {
  return (error as Error).message.replace(/[.]?$/, '.');
}

/** One object of an inventory. */
export interface InventoryRow {
  readonly key: string;
  /** Absent if the inventory has no such column. */
  readonly size?: number;
  /** Milliseconds since 1970. */
  readonly modified?: number;
}

/**
 * Rows of a data file, in its order, many at a time: current versions that are no delete markers. Behind the last, where the
 * file turns out to be another than the manifest's, it throws: nothing may be done for good before.
 * @throws BatchError INVENTORY_NOT_READ, naming the file and the row; INVENTORY_INVALID
 */
export async function* inventoryRows(
  s3: S3Client,
  { bucket, columns }: Inventory,
  file: InventoryFile,
): AsyncGenerator<readonly InventoryRow[]> {
  const [key, latest, marker, size, modified] = [
    ...['Key', 'IsLatest', 'IsDeleteMarker', 'Size', 'LastModifiedDate'],
  ].map((name) => columns.indexOf(name)) as [number, number, number, number, number];
  let row = 0;
  const rowOf = (line: string): InventoryRow[] => {
    row++;
    if (line === '') return [];
    const fields = fieldsOf(line, columns.length);
    if (fields.length !== columns.length) {
      throw invalid(`${fields.length} fields instead of ${columns.length}.`);
    }
    if (fields[latest]?.toLowerCase() === 'false') return [];
    if (fields[marker]?.toLowerCase() === 'true') return [];
    return [
      {
        key: decodeKey(fields[key] as string),
        ...(size >= 0 && { size: Number(fields[size]) }),
        ...(modified >= 0 && { modified: Date.parse(fields[modified] as string) }),
      },
    ];
  };
  try {
    const body = await openObject(s3, { bucket, key: file.key });
    for await (const lines of linesOf(body, file)) {
      yield lines.flatMap(rowOf);
    }
  } catch (cause) {
    // The function is called again.
    if (isPassing(cause)) throw cause;
    if (cause instanceof OtherBytes) {
      throw invalid(
        `the inventory's s3://${bucket}/${file.key} ${cause.message} Name an inventory as S3 has written it.`,
      );
    }
    if (isLasting(cause)) {
      throw invalid(
        `cannot read the inventory's s3://${bucket}/${file.key} after row ${row}: ${sentence(cause)} Name an inventory as S3 has written it.`,
      );
    }
    throw new BatchError(
      'INVENTORY_NOT_READ',
      `cannot read the inventory's s3://${bucket}/${file.key} after row ${row}: ${sentence(cause)} Start the run again.`,
      { cause },
    );
  }
}

/** Whether the file is gone or damaged, so that another try ends as this one did. */
function isLasting(cause: unknown): boolean {
  const { code } = cause as { code?: unknown };
  return (
    cause instanceof BatchError ||
    cause instanceof URIError ||
    isAbsent(cause) ||
    (typeof code === 'string' && code.startsWith('Z_'))
  );
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

/** A key has up to 1,024 bytes, three characters each; a list of grants in base64 has up to 100 of some hundred bytes. */
const MAX_LINE = 1024 ** 2;

async function* linesOf(body: Readable, file: InventoryFile): AsyncGenerator<readonly string[]> {
  const checked = pipeline(body, checking(file), () => undefined);
  const text: Readable = file.key.endsWith('.gz')
    ? pipeline(checked, createGunzip(), () => undefined)
    : checked;
  text.setEncoding('utf8');
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) {
      throw new OtherBytes(
        `has a line of more than ${MAX_LINE} characters: S3 writes none so long.`,
      );
    }
    yield lines;
  }
  yield [rest];
}

/** Of a file that is not the one that the manifest names, or none that S3 has written. */
class OtherBytes extends Error {}

/** Passes bytes on, and fails behind the last if they are not those of the manifest. */
function checking({ size, MD5checksum }: InventoryFile): Transform {
  const digest = createHash('md5');
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      digest.update(chunk);
      bytes += chunk.byteLength;
      done(null, chunk);
    },
    flush(done) {
      const md5 = digest.digest('hex');
      const isOther = MD5checksum !== undefined && md5 !== MD5checksum.toLowerCase();
      if (size !== undefined && bytes !== size) {
        done(new OtherBytes(`has ${bytes} bytes, and manifest.json says ${size}.`));
      } else if (isOther) {
        done(new OtherBytes(`has the MD5 ${md5}, and manifest.json says ${MD5checksum}.`));
      } else done();
    },
  });
}
