/** Lists folders whose names are hours, `yyyy/mm/dd/hh/` in UTC, from an hour on. */
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../s3-uri.ts';
import { listObjects, listPage, listPages, type S3Object } from './listing.ts';

const HOUR = 3_600_000;
const IN_HOUR = /^((?:.*\/)?)\d{4}\/\d\d\/\d\d\/\d\d\/[^/]*$/;

/**
 * Every object below a prefix that was written since a time. Folders of hours may lie at any depth, as those of
 * `ENDPOINT/VARIANT/` do; hours before are not listed, so years of history cost nothing.
 * @param since milliseconds since 1970; default: everything
 */
export async function* listDated(
  s3: S3Client,
  place: S3Location,
  since = Number.NEGATIVE_INFINITY,
): AsyncGenerator<S3Object> {
  const found = since > 0 ? below(s3, place, since) : listObjects(s3, place);
  for await (const object of found) if (object.modified >= since) yield object;
}

async function* below(s3: S3Client, place: S3Location, since: number): AsyncGenerator<S3Object> {
  const { bucket, key: prefix } = place;
  const first = await listPage(s3, place, { maxKeys: 1 });
  const dated = IN_HOUR.exec(first.objects[0]?.key ?? '')?.[1];
  // The prefix itself may name a year, a day or an hour.
  if (dated !== undefined && dated.length <= prefix.length) {
    // What came in at the end of an hour is written in the next one.
    yield* listObjects(s3, place, dated + hourFolder(since - HOUR));
    return;
  }
  for await (const { objects, folders } of listPages(s3, place, { folders: true })) {
    yield* objects;
    for (const folder of folders) yield* below(s3, { bucket, key: folder }, since);
  }
}

function hourFolder(time: number): string {
  return `${new Date(time).toISOString().slice(0, 13).replace(/[-T]/g, '/')}/`;
}
