/** Two workers at one range, at each other's every step; then a third continues, and every object is there once. */
import { gunzipSync } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  keyInPart,
  keysCandidates,
  parseKeyLine,
  readKeysFile,
  type WorkerCounts,
} from '@sagemaker-tfs/batch';
import { type GeneratedS3, startGeneratedS3 } from '../../../tools/generated-s3.ts';
import { type PartOptions, partWriter } from './part-writer.ts';
import { positionOf } from './range.ts';
import { type Store, s3Client, storeBelow } from './store.ts';

const COUNT = 12;
const KEYS = Array.from({ length: COUNT }, (_, at) => `k${String(at).padStart(2, '0')}`);
const RANGE = { number: 0, after: undefined, upTo: undefined };

let s3: GeneratedS3;
let client: S3Client;
beforeAll(async () => {
  s3 = await startGeneratedS3({});
  Object.assign(process.env, s3.environment);
  client = s3Client(4);
});
afterAll(async () => {
  client.destroy();
  await s3.close();
});

/** What a process does to S3 for a part. */
type Step = 'keys' | 'part' | 'remove';

/** A process whose every step waits until it may; a killed one never gets further. */
class Process {
  readonly store: Store;
  readonly #waiting = new Map<Step, () => Promise<void>>();
  #came: () => void = () => undefined;
  done: Promise<'written' | 'lost'> = Promise.resolve('written');

  constructor(output: string, name: string) {
    const store = storeBelow(client, `s3://out/${output}/`, name);
    this.store = {
      ...store,
      write: (...args) => this.#gate('keys', () => store.write(...args)),
      create: (...args) => this.#gate('part', () => store.create(...args)),
      remove: (...args) => this.#gate('remove', () => store.remove(...args)),
    };
  }

  /** Begins a part with these objects. */
  write(objects: readonly string[], options: Partial<PartOptions> = {}): void {
    this.done = rowsInto(this.store, objects, options).then(
      () => 'written',
      (error: { code?: string }) => {
        expect(error.code).toBe('OTHER_WORKER');
        return 'lost';
      },
    );
  }

  #gate<T>(step: Step, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(step, () => act().then(resolve, reject));
      this.#came();
    });
  }

  /** Lets it do a step to its end, once it comes to it. */
  async take(step: Step): Promise<void> {
    while (!this.#waiting.has(step)) {
      await new Promise<void>((resolve) => {
        this.#came = resolve;
      });
    }
    const act = this.#waiting.get(step);
    this.#waiting.delete(step);
    await act?.();
  }
}

async function rowsInto(
  store: Store,
  keys: readonly string[],
  { first = 0, ...options }: Partial<PartOptions>,
  gone?: string,
): Promise<void> {
  const writer = partWriter(store, {
    ...{ range: 0, first, partKeys: 1_000, partBytes: 1e9, pack: undefined },
    ...options,
    onWritten: (_: WorkerCounts) => undefined,
  });
  for (const key of keys) await writer.add({ key, name: key, body: `${key}\n` });
  if (gone !== undefined) await writer.add({ key: gone, name: gone, body: '', isGone: true });
  await writer.finish();
}

/** Names by what the parts hold, and by what their files of keys say. */
async function found(store: Store): Promise<{ held: string[]; told: string[] }> {
  const parts = (await store.list('parts/')).map(({ key }) => key);
  const candidates = await keysCandidates(store, parts);
  const [held, told]: [string[], string[]] = [[], []];
  for (const part of parts) {
    const body = String(await store.read(part));
    held.push(...body.split('\n').filter(Boolean));
    const { key, bytes } = await readKeysFile(store, part, candidates);
    const [, ...lines] = gunzipSync(bytes).toString().split('\n').filter(Boolean);
    told.push(...lines.flatMap((line) => keyInPart(parseKeyLine(line, key)) ?? []));
  }
  return { held, told };
}

/** Every order of the steps of two processes; a process that is killed stops short. */
function orders(a: readonly Step[], b: readonly Step[]): ['a' | 'b', Step][][] {
  const [[first, ...restA], [second, ...restB]] = [a, b];
  if (first === undefined && second === undefined) return [[]];
  return [
    ...(first === undefined ? [] : orders(restA, b).map((rest) => [['a', first], ...rest])),
    ...(second === undefined ? [] : orders(a, restB).map((rest) => [['b', second], ...rest])),
  ] as ['a' | 'b', Step][][];
}

const LIVES: readonly (readonly Step[])[] = [['keys', 'part'], ['keys'], []];
const LOSERS = ['removes its own', 'may not remove', 'is killed before it removes'] as const;
const cases = LIVES.flatMap((a) =>
  LIVES.flatMap((b) =>
    orders(a, b).flatMap((order) => {
      const tried = order.filter(([, step]) => step === 'part').map(([who]) => who);
      const name = order.map((step) => step.join(' ')).join(', ') || 'both are killed at once';
      return LOSERS.slice(0, tried.length === 2 ? undefined : 1).map((loser) => {
        const told = tried.length === 2 ? `${name}, the loser ${loser}` : name;
        return { name: told, order, tried, loser };
      });
    }),
  ),
);

describe.each([
  ['answers', undefined],
  ['packed', 'tfrecord'],
] as const)('%s', (kind, pack) => {
  test.each(cases)('$name', async ({ name, order, tried, loser }) => {
    const output = `${kind}-${name}`.replaceAll(/[^a-z]+/g, '-');
    const processes = { a: new Process(output, 'a'), b: new Process(output, 'b') };
    // The longer keys of one with the shorter part of the other lose objects; the other way round they are done twice.
    processes.a.write(KEYS.slice(0, 4), { pack });
    processes.b.write(KEYS.slice(0, 9), { pack });
    for (const [who, step] of order) await processes[who].take(step);
    const isDenied = loser === 'may not remove';
    s3.fail = (method) => (isDenied && method === 'DELETE' ? 403 : undefined);
    const [winner, late] = tried;
    if (late !== undefined && loser !== 'is killed before it removes') {
      await processes[late].take('remove');
      expect(await processes[late].done).toBe('lost');
    }
    const third = storeBelow(client, `s3://out/${output}/`, 'c');
    const position = await positionOf(third, RANGE);
    if (position.isDone) throw new Error('nobody has said so');
    const length = winner === undefined ? 0 : winner === 'a' ? 4 : 9;
    expect(position).toMatchObject({ counts: { answers: length }, next: winner ? 1 : 0 });
    expect(position.after).toBe(KEYS[length - 1]);
    const left = KEYS.filter((key) => key > (position.after ?? ''));
    await rowsInto(third, left, { first: position.next, partKeys: 5, pack });
    expect(await found(third)).toEqual({ held: KEYS, told: KEYS });
    s3.fail = undefined;
  });
});

const keysKey = (output: string, process: string) =>
  `${output}/_worker/keys/00000-000000-${process}.ndjson.gz`;

test('a part whose keys nobody can tell ends the worker; with its own back, it continues', async () => {
  const a = storeBelow(client, 's3://out/none/', 'a');
  await rowsInto(a, KEYS.slice(0, 3), {});
  const objects = s3.stored.get('out') as Map<string, { body: Uint8Array }>;
  const own = objects.get(keysKey('none', 'a'));
  objects.delete(keysKey('none', 'a'));
  const refusal = {
    code: 'WORKER_FILE_INVALID',
    message: expect.stringContaining('00000-000000.ndjson has no file of keys of its own'),
  };
  await expect(positionOf(a, RANGE)).rejects.toMatchObject(refusal);
  // Of two others, each with a part of its own elsewhere.
  for (const [name, count] of Object.entries({ b: 2, c: 4 })) {
    const other = storeBelow(client, `s3://out/none-${name}/`, name);
    await rowsInto(other, KEYS.slice(0, count), {});
    objects.set(keysKey('none', name), objects.get(keysKey(`none-${name}`, name)) as never);
  }
  await expect(positionOf(a, RANGE)).rejects.toMatchObject(refusal);
  objects.set(keysKey('none', 'a'), own as never);
  expect(await positionOf(a, RANGE)).toMatchObject({ after: KEYS[2] });
});

test('of two with the same answers, the one that goes less far counts', async () => {
  const objects = () => s3.stored.get('out') as Map<string, { body: Uint8Array }>;
  const a = storeBelow(client, 's3://out/alike/', 'a');
  // The last of its inputs was deleted before it was read.
  await rowsInto(a, KEYS.slice(0, 3), {}, KEYS[3]);
  const b = storeBelow(client, 's3://out/alike-b/', 'b');
  await rowsInto(b, KEYS.slice(0, 3), {});
  expect(await positionOf(a, RANGE)).toMatchObject({ after: KEYS[3], counts: { gone: 1 } });
  objects().set(keysKey('alike', 'b'), objects().get(keysKey('alike-b', 'b')) as never);
  expect(await positionOf(a, RANGE)).toMatchObject({ after: KEYS[2], counts: { gone: 0 } });
});

test('parts are read only if several files may have their keys, and a range is listed twice', async () => {
  const a = storeBelow(client, 's3://out/calls/', 'a');
  await rowsInto(a, KEYS, { partKeys: 3 });
  const read: string[] = [];
  let lists = 0;
  const counting: Store = {
    ...a,
    read(key) {
      read.push(key);
      return a.read(key);
    },
    list(start) {
      lists++;
      return a.list(start);
    },
  };
  await positionOf(counting, RANGE);
  expect(read.filter((key) => key.startsWith('parts/'))).toEqual([]);
  expect([read.length, lists]).toEqual([1 + 4, 2]);
});
