/** Advice stands only where it helps. */
import { adviceFor } from './advice.ts';
import type { Source } from './source.ts';

const csv = (header: boolean): Source => ({ tab: 'CSV', text: '', header });
const file: Source = { tab: 'File', chosen: { name: 'a.npz', blob: new Blob(), contentType: '' } };

test.each<[code: string, message: string, source: Source, inputs: number, advice: RegExp]>([
  ['UNKNOWN_INPUT', "no input '1'", csv(true), 1, /signature\. If .* untick 'The first line has/],
  ['UNKNOWN_INPUT', "no input '1'", csv(true), 2, /signature\.$/],
  ['UNKNOWN_INPUT', "no input '1'", csv(false), 1, /signature\.$/],
  ['UNKNOWN_INPUT', "no input '1'", file, 1, /signature\.$/],
  ['BAD_INPUT', "input 'x' takes float32 [N,1], got [2]", file, 1, /^Compare the names/],
  [
    'BAD_INPUT',
    'send it as text/csv;header=present.',
    csv(false),
    2,
    /^If .* tick 'The first line/,
  ],
  ['BAD_INPUT', 'send the CSV without header=present.', csv(true), 1, /^If .* untick 'The first/],
  ['BAD_INPUT', 'send it as text/csv;header=present.', file, 2, /^undefined$/],
  ['BAD_INPUT', 'the body is not JSON', file, 1, /^undefined$/],
  ['MODEL_FAILED', 'ConcatOp', file, 2, /numbers of rows/],
  ['OF_A_HANDLER', '', file, 1, /has the log/],
])('%s (%s)', (code, message, source, inputs, advice) => {
  expect(String(adviceFor({ code, message, source, inputs }))).toMatch(advice);
});
