import { pathToFileURL } from 'node:url';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { sourceEntry } from '../threads/thread-entry.ts';
import { ThreadPool } from '../threads/thread-pool.ts';
import { decodeInThread, type ImagePool } from './image-pool.ts';
import { runImageTask } from './image-task.ts';
import { gradient, pixelsOf } from './test-pictures.ts';

const entry = sourceEntry(pathToFileURL(`${__dirname}/image-worker.ts`));
const input = pixelsOf({ height: 32, width: 48 });
const never = new AbortController().signal;

describe('the pool for pictures', () => {
  let pool: ImagePool;
  beforeAll(() => {
    pool = new ThreadPool(entry, 2);
  });
  afterAll(() => pool.close());

  test('threads give what this thread gives, for every format and many at a time', async () => {
    const picture = gradient(200, 100);
    const encoded = [
      await picture.clone().jpeg().toBuffer(),
      await picture.clone().png().toBuffer(),
      await picture.clone().webp().toBuffer(),
    ];
    const tasks = Array.from({ length: 12 }, (_, at) => {
      const own = at % 2 === 0 ? input : { ...input, height: undefined, width: undefined };
      return { bytes: encoded[at % 3] as Buffer, input: own, limits: DEFAULT_DECODE_LIMITS };
    });
    const results = await Promise.all(tasks.map((task) => decodeInThread(pool, task, never)));
    for (const [at, task] of tasks.entries()) {
      const here = await runImageTask(task);
      expect(results[at]).toMatchObject({ width: here.width, height: here.height });
      expect(Buffer.from(results[at]?.bytes as Uint8Array).equals(here.bytes)).toBe(true);
    }
  });

  test('a bad picture fails with its own error, and the thread lives on', async () => {
    const bad = { bytes: Buffer.from('no picture'), input, limits: DEFAULT_DECODE_LIMITS };
    await expect(decodeInThread(pool, bad, never)).rejects.toMatchObject({
      code: 'BAD_IMAGE',
      status: 400,
    });
    const good = { ...bad, bytes: await gradient(10, 10).png().toBuffer() };
    await expect(decodeInThread(pool, good, never)).resolves.toMatchObject({
      width: 48,
      height: 32,
    });
  });

  test('a task that cannot be handed over fails, and the thread lives on', async () => {
    const task = { bytes: new Uint8Array(8), input, limits: DEFAULT_DECODE_LIMITS };
    const odd = { ...task, what: () => 1 };
    for (let at = 0; at < 3; at += 1) {
      await expect(pool.run(odd, [], never)).rejects.toThrow(/could not be cloned/);
    }
    const good = { ...task, bytes: await gradient(10, 10).png().toBuffer() };
    await expect(decodeInThread(pool, good, never)).resolves.toMatchObject({ width: 48 });
  });

  test('work of a client that has gone is not started', async () => {
    const bytes = await gradient(10, 10).png().toBuffer();
    const gone = new AbortController();
    const waiting = Array.from({ length: 6 }, () =>
      decodeInThread(pool, { bytes, input, limits: DEFAULT_DECODE_LIMITS }, gone.signal),
    );
    gone.abort(new Error('gone'));
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map(({ status }) => status)).toEqual(new Array(6).fill('rejected'));
    await expect(
      decodeInThread(pool, { bytes, input, limits: DEFAULT_DECODE_LIMITS }, never),
    ).resolves.toBeDefined();
  });

  test('a thread that cannot start fails its picture instead of leaving it waiting', async () => {
    const program = pathToFileURL(`${__dirname}/no-such-file.js`);
    const broken: ImagePool = new ThreadPool({ program, isCode: false }, 1);
    const bytes = await gradient(10, 10).png().toBuffer();
    await expect(
      decodeInThread(broken, { bytes, input, limits: DEFAULT_DECODE_LIMITS }, never),
    ).rejects.toMatchObject({
      code: 'INTERNAL',
    });
  });
});
