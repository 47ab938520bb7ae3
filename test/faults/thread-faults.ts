/** Threads that die: of the body that they read, which needs more memory than a thread has. */
import { ask } from './clients.ts';
import type { Fault } from './ground.ts';

/** Objects of millions of small lists: a gigabyte of them, and more. */
const PART = '{"x": [[]]},';
const PARTS = 10_000_000;
/** Right answers at the end: other threads read. */
const AFTER = 40;
/** It may also wait longer than a request may, on a busy machine. */
const REFUSED = /"code":"(REQUEST_TOO_LARGE|REQUEST_TIMEOUT|OVERLOADED)"/;

/** The heap limit ends the thread. */
export const threadOutOfMemory: Fault = {
  name: 'a thread dies of the body that it reads',
  keepsPing: true,
  async happen({ served, tally, questions, times }) {
    const [{ path } = { path: '/invocations' }] = questions;
    const body = Buffer.from(`{"instances": [${PART.repeat(PARTS)}1]}`);
    for (let time = 0; time < Math.min(times, 2); time++) {
      const question = { path, contentType: 'application/json', body };
      const answer = await ask(served.url, question, false);
      const isRefused = 'text' in answer && REFUSED.test(answer.text);
      tally.add(isRefused ? 'refused' : 'wrong', () => JSON.stringify(answer));
      tally.fault();
      await tally.untilRight(AFTER);
    }
  },
};
