/** One body of 25 MB in each format: how long does reading it keep the event loop? */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { DEFAULT_DECODE_LIMITS, decodeRequest } from '@sagemaker-tfs/container/parts';
import type { Bench, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { LARGE_BODIES, type LargeBody } from './lib/large-bodies.ts';

export const largeBodies: Bench = {
  name: 'large-bodies',
  question: 'How long does one body of 25 MB keep the event loop?',
  async run({ log }): Promise<Findings> {
    const rows: Row[] = [];
    for (const large of LARGE_BODIES) {
      const row = await rowOf(large);
      log(`${large.name}: ${row.longest} ms of ${row.whole} ms (${row.answer})`);
      rows.push(row);
    }
    return {
      tables: [
        {
          title: 'A body of 25 MB, by format',
          columns: columns({
            name: 'Body',
            megabytes: 'MB',
            longest: 'Longest time without a turn of the event loop, ms',
            whole: 'Until it was read, ms',
            answer: 'Read or refused',
          }),
          rows,
        },
      ],
      notes: [
        'Without a server: the body lies in memory, and the codecs read it as they do for a request. The first body of a format starts threads; it is read twice, and the second time counts.',
      ],
    };
  },
};

async function rowOf({ name, body, context }: LargeBody): Promise<Row> {
  const bytes = await body();
  const limits = { ...DEFAULT_DECODE_LIMITS };
  const read = async () => {
    try {
      await decodeRequest(bytes, { ...context, limits });
      return 'read';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  await read();
  const loop = watchLoop();
  const from = performance.now();
  const answer = await read();
  const whole = performance.now() - from;
  return { name, megabytes: bytes.byteLength / 1e6, longest: await loop.longest(), whole, answer };
}

/** Looks at the clock in every turn of the event loop. */
function watchLoop() {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return {
    /** Milliseconds between two turns, at most. */
    async longest(): Promise<number> {
      isOver = true;
      await turnOfLoop();
      return longest;
    },
  };
}
