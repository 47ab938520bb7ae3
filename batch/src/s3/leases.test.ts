/** Leases while other requests write and delete at the same moment. */
import { S3Client } from '@aws-sdk/client-s3';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';
import { putIf } from './conditional-write.ts';
import { type LeaseWrite, leasePlace, readLease, takeLease, writeLease } from './leases.ts';

const PLACE = leasePlace('s3://data/out');
const PATH = 'data/out/_shards/lease.json';
const ours = { execution: 'ours', returned: false };
const theirs = { execution: 'theirs', returned: false };
const returned = { execution: 'theirs', returned: true };
const free = { isFree: () => true };
const taken = { isFree: () => false };
const written = { written: true, etag: expect.any(String) };

let stand: S3StandIn;
let s3: S3Client;
beforeEach(async () => {
  stand = await startS3(10);
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  s3 = new S3Client({
    endpoint: stand.url,
    forcePathStyle: true,
    region: 'eu-west-1',
    credentials,
  });
});
afterEach(async () => {
  s3.destroy();
  await stand.close();
});

function leave(lease: object): void {
  stand.objects.set(PATH, Buffer.from(JSON.stringify(lease)));
}

/** Answers the next requests of a method so; `undefined` answers one as usual. */
function answer(wanted: string, ...answers: (string | (() => string | undefined) | undefined)[]) {
  stand.fail = (method) => {
    if (method !== wanted) return undefined;
    const next = answers.shift();
    return typeof next === 'function' ? next() : next;
  };
}

/** Something that happens before a request is answered. */
function doing(what: () => void, code?: string) {
  return () => {
    what();
    return code;
  };
}

const remove = () => void stand.objects.delete(PATH);
const CONFLICT = 'ConditionalRequestConflict';

test.each<[string, () => void, LeaseWrite | object]>([
  ['there is none', () => undefined, written],
  [
    'a request fails that writes at the same moment',
    () => answer('PUT', CONFLICT, CONFLICT),
    written,
  ],
  [
    'a request that writes at the same moment is complete by the second try',
    () =>
      answer(
        'PUT',
        doing(() => leave(theirs), CONFLICT),
      ),
    { written: false, found: expect.objectContaining({ lease: theirs }) },
  ],
  [
    'the answer of an own write is lost',
    () =>
      answer(
        'PUT',
        doing(() => leave(ours), 'PreconditionFailed'),
      ),
    written,
  ],
  [
    'it is deleted before it is read',
    () => {
      leave(theirs);
      answer('GET', doing(remove));
    },
    { written: false, found: undefined },
  ],
  [
    'it is deleted before it is read, by one who may list alone',
    () => {
      leave(theirs);
      answer('GET', doing(remove, 'AccessDenied'));
    },
    { written: false, found: undefined },
  ],
])('a lease is written if %s', async (_, prepare, expected) => {
  prepare();
  expect(await writeLease(s3, PLACE, ours, undefined)).toEqual(expected);
});

test.each<[string, () => void, object, object]>([
  ['is held', () => leave(theirs), taken, { written: false }],
  ['was returned', () => leave(returned), free, written],
  ['is no lease', () => leave([]), free, written],
  [
    'is deleted between the write and the look',
    () => {
      leave(theirs);
      answer('GET', doing(remove));
    },
    taken,
    written,
  ],
  [
    'is deleted between the look and the second write',
    () => {
      leave(returned);
      answer('PUT', undefined, doing(remove));
    },
    free,
    written,
  ],
  [
    'somebody else takes first, again and again',
    () => {
      leave(returned);
      let other = 0;
      stand.fail = (method) => {
        if (method === 'PUT') leave({ execution: `other ${other++}`, returned: true });
        return undefined;
      };
    },
    free,
    { written: false, found: expect.objectContaining({ lease: expect.anything() }) },
  ],
])('taking over a lease that %s', async (_, prepare, how, expected) => {
  prepare();
  const isFree = (how as typeof free).isFree;
  expect(await takeLease(s3, PLACE, ours, isFree)).toMatchObject(expected);
});

test('a lease that was read is replaced once', async () => {
  leave(theirs);
  const { etag } = (await readLease(s3, PLACE)) ?? {};
  const isFree = (found: { etag: string }) => found.etag === etag;
  expect(await takeLease(s3, PLACE, ours, isFree)).toMatchObject(written);
  const late = { execution: 'late', returned: false };
  expect(await takeLease(s3, PLACE, late, isFree)).toMatchObject({
    written: false,
    found: { lease: ours },
  });
});

test('jobs of two starts are two holders', async () => {
  const job = { type: 'transform', name: 'n', region: 'us-east-1', start: 'one' } as const;
  const of = (start: string) => ({ job: { ...job, start }, returned: false });
  const first = await writeLease(s3, PLACE, of('one'), undefined);
  expect(first).toEqual(written);
  expect(await writeLease(s3, PLACE, of('one'), undefined)).toEqual(first);
  const found = { written: false, found: expect.objectContaining({ lease: of('one') }) };
  expect(await writeLease(s3, PLACE, of('two'), undefined)).toEqual(found);
  expect(await writeLease(s3, PLACE, of('two'), '"old"')).toEqual(found);
  const { etag } = first as Extract<LeaseWrite, { written: true }>;
  expect(await writeLease(s3, PLACE, of('two'), etag)).toEqual(written);
});

test('a conflict without end is an error after a few tries, and a refusal at once', async () => {
  const object = { Bucket: 'data', Key: 'one', Body: 'x' };
  stand.fail = () => CONFLICT;
  await expect(putIf(s3, object, { IfNoneMatch: '*' })).rejects.toMatchObject({ name: CONFLICT });
  expect(stand.calls.PUT).toBe(6);
  stand.fail = () => 'AccessDenied';
  await expect(putIf(s3, object, { IfMatch: '"a"' })).rejects.toMatchObject({
    name: 'AccessDenied',
  });
  expect(stand.calls.PUT).toBe(7);
});

test('what is to be replaced and is gone is not written', async () => {
  const object = { Bucket: 'data', Key: 'one', Body: 'x' };
  expect(await putIf(s3, object, { IfMatch: '"a"' })).toBeUndefined();
});
