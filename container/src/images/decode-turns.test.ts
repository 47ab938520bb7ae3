import { availableParallelism } from 'node:os';
import { RequestSignal } from '../waiting/request-signal.ts';
import { decodeImage } from './decode-image.ts';
import { inTurn } from './decode-turns.ts';
import { gradient } from './test-pictures.ts';

/** Work for every core, which continues until it is released. */
function occupy(): { readonly done: Promise<unknown>; release(): void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  const works = Array.from({ length: availableParallelism() }, () =>
    inTurn(() => promise, undefined),
  );
  return { done: Promise.all(works), release };
}

test('who waits gets a turn in the order of coming, and no more at a time than cores', async () => {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const works = Array.from({ length: 50 }, (_, index) =>
    inTurn(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return index;
    }, undefined),
  );
  expect(await Promise.all(works)).toEqual(begun);
  expect(most).toBe(availableParallelism());
});

test('a request that ends while its picture waits ends at once; others are not held up', async () => {
  const held = occupy();
  const gone = new RequestSignal();
  let began = false;
  const dropped = inTurn(async () => {
    began = true;
  }, gone);
  const other = inTurn(async () => 'other', undefined);
  gone.abort(new Error('gone'));
  await expect(dropped).rejects.toThrow('gone');
  held.release();
  await held.done;
  await expect(other).resolves.toBe('other');
  expect(began).toBe(false);
  await expect(inTurn(async () => 1, gone)).rejects.toThrow('gone');
});

test('work that fails gives its turn on', async () => {
  for (let count = 0; count <= availableParallelism(); count++) {
    await expect(inTurn(() => Promise.reject(new Error('bad')), undefined)).rejects.toThrow('bad');
  }
  await expect(inTurn(async () => 'next', undefined)).resolves.toBe('next');
});

test('pictures wait so too', async () => {
  const png = await gradient(8, 8).png().toBuffer();
  const held = occupy();
  const gone = new RequestSignal();
  const dropped = decodeImage(png, { signal: gone });
  const kept = decodeImage(png, { signal: new RequestSignal() });
  gone.abort(new Error('gone'));
  await expect(dropped).rejects.toThrow('gone');
  held.release();
  await held.done;
  await expect(kept).resolves.toMatchObject({ width: 8 });
});
