import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { RequestSignal } from '../waiting/request-signal.ts';
import { writeReply } from './reply.ts';

/** A response whose connection takes everything at once. */
function greedy(): { response: ServerResponse; taken: () => number } {
  let bytes = 0;
  const sink = new Writable({
    write(chunk: Uint8Array, _, done) {
      bytes += chunk.byteLength;
      done();
    },
  });
  const response = Object.assign(sink, { writeHead: () => sink });
  return { response: response as unknown as ServerResponse, taken: () => bytes };
}

test.each<[string, number, number]>([
  ['large pieces', 1024 * 1024, 64],
  ['pieces of 100 KB', 100_000, 500],
  ['small pieces', 10, 20_000],
  ['pieces of nothing', 0, 2_000],
])('others have turns while a stream of %s is sent', async (_, size, count) => {
  const { response, taken } = greedy();
  const piece = Buffer.alloc(size);
  // Its pieces are there whenever they are asked for.
  async function* body() {
    for (let i = 0; i < count; i++) yield piece;
    yield Buffer.from('.');
  }
  const between: number[] = [];
  let last = 0;
  let made = true;
  const look = () => {
    between.push(taken() - last);
    last = taken();
    if (made) setImmediate(look);
  };
  setImmediate(look);
  const reply = { status: 200, headers: {}, body: body() };
  expect(await writeReply(response, reply, new RequestSignal())).toBe(size * count + 1);
  made = false;
  expect(between.length).toBeGreaterThanOrEqual((size * count) / 2 ** 20);
  expect(between.length).toBeGreaterThanOrEqual(count / 128);
  // What may be ahead: a turn, and what the stream and the response buffer.
  expect(Math.max(...between)).toBeLessThanOrEqual(2 * size + 1024 * 1024);
});
