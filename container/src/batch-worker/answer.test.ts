/** Answers that one object cannot have. */
import { answerLines } from './answer.ts';
import type { Caution } from './caution.ts';

async function linesOf(name: string, body: Uint8Array, contentType: string): Promise<string> {
  const caution = { during: <T>(_: string, work: () => Promise<T>) => work() };
  const lines = answerLines({
    ask: async () => ({ body, contentType }),
    inFlight: 1,
    caution: caution as unknown as Caution,
  });
  return lines({ key: name, name, body: new Uint8Array(1) });
}

test.each<[what: string, name: string, body: () => Uint8Array]>([
  ['more bytes than a string takes', 'a', () => Buffer.alloc(2 ** 29)],
  [
    'more characters with its key in every line',
    'k'.repeat(10_000),
    () => Buffer.from('1\n'.repeat(30_000)),
  ],
])('%s are the error of that object', async (_, name, body) => {
  await expect(linesOf(name, body(), 'text/csv')).rejects.toMatchObject({
    code: 'RESPONSE_TOO_LARGE',
    message: expect.stringContaining('Divide the object'),
  });
});
