/** What streams of handlers hold while their readers are slow. */
import { Admission } from '../http/admission.ts';
import { streamedBytes } from './answer-stream.ts';

const MIB = 2 ** 20;
const LIMIT = 8 * MIB;

/** Streams one shared buffer without end. */
function endless(admission: Admission, size: number) {
  const piece = Buffer.alloc(size, 1);
  const asked = { pieces: 0, isOver: false };
  async function* body() {
    try {
      for (;;) {
        asked.pieces += 1;
        yield piece;
      }
    } finally {
      asked.isOver = true;
    }
  }
  const ticket = admission.admit(0);
  return { piece, asked, ticket, stream: streamedBytes(body(), ticket) };
}

async function take(stream: AsyncGenerator<Uint8Array>, bytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let got = 0; got < bytes; ) {
    const { value } = await stream.next();
    parts.push(value as Uint8Array);
    got += value?.byteLength ?? 0;
  }
  return Buffer.concat(parts);
}

test('a long piece counts once while it is on its way, in slices that keep nothing else', async () => {
  const admission = new Admission({ maxRequests: 10, maxHeldBytes: LIMIT });
  const { stream, asked, piece } = endless(admission, 3 * MIB);
  const first = await stream.next();
  expect(first.value?.buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
  // A handler that has one buffer for all its answers.
  piece.fill(2);
  const rest = await take(stream, 3 * MIB - first.value?.byteLength);
  expect(rest.every((byte) => byte === 1)).toBe(true);
  expect({ ...asked, held: admission.heldBytes }).toEqual({
    pieces: 1,
    isOver: false,
    held: 3 * MIB,
  });
  expect((await stream.next()).value?.[0]).toBe(2);
  expect({ ...asked, held: admission.heldBytes }).toMatchObject({ pieces: 2, held: 3 * MIB });
  await stream.return(undefined);
  expect({ ...asked, held: admission.heldBytes }).toMatchObject({ isOver: true, held: 0 });
});

test('text is cut anywhere, and is whole again', async () => {
  const admission = new Admission();
  const text = 'é😀x'.repeat(50_000);
  async function* body() {
    yield text;
  }
  const parts: Uint8Array[] = [];
  for await (const part of streamedBytes(body(), admission.admit(0))) parts.push(part);
  expect(Buffer.concat(parts).toString()).toBe(text);
  expect(parts.length).toBeGreaterThan(4);
});

test('streams together hold no more than all requests may, and who reads slowest makes room', async () => {
  const admission = new Admission({ maxRequests: 10, maxHeldBytes: LIMIT });
  const streams = [1, 2].map(() => endless(admission, 3 * MIB));
  for (const { stream } of streams) await stream.next();
  const third = endless(admission, 3 * MIB);
  await expect(third.stream.next()).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(third.asked.isOver).toBe(true);
  expect(admission.heldBytes).toBe(6 * MIB);
  // As for whole answers: the slowest reader's is cut.
  admission.reclaim = () => {
    const [slowest] = streams.splice(0, 1);
    slowest?.ticket.release();
    return slowest !== undefined;
  };
  const fourth = endless(admission, 3 * MIB);
  expect((await fourth.stream.next()).value?.byteLength).toBe(64 * 1024);
  expect(streams).toHaveLength(1);
});
