import { loggedReasons } from './logged-reasons.ts';

const below = 'data/in/';
const line = (key: string, text: string) => `${below}${key}: ${text}`;

test.each<[what: string, lines: string[], expected: Record<string, object>]>([
  [
    'keys that hold a colon and a space, one the start of another',
    [line('a: b', 'ClientError: 400'), line('a: b', 'x: y'), line('a', 'z')],
    { 'a: b': { status: 400, reason: 'x: y' }, a: { reason: 'z' } },
  ],
  ['other keys, other buckets', ['other/in/a: x', line('unknown', 'x'), 'nothing'], {}],
  [
    'an answer without a text',
    [line('a', 'Bad HTTP status received from algorithm: 500'), line('a', 'Message:')],
    { a: { status: 500, reason: 'the container answered with status 500' } },
  ],
  [
    'lines of two inputs at the same time',
    [
      ...[line('a', 'ClientError: 400'), line('b', 'ClientError: 415'), line('a', 'Message:')],
      ...[line('b', '{"error":"b","code":"B"}'), line('a', '{"error":"a","code":"A"}')],
    ],
    { a: { status: 400, code: 'A', reason: 'a' }, b: { status: 415, code: 'B', reason: 'b' } },
  ],
  [
    'JSON of another container, and a long text',
    [line('a', '{"detail":"no"}'), line('b', 'x'.repeat(10_000))],
    { a: { reason: '{"detail":"no"}' }, b: { reason: 'x'.repeat(500) } },
  ],
])('%s', (_, lines, expected) => {
  const keys = new Set(['a', 'a: b', 'b']);
  expect(Object.fromEntries(loggedReasons(lines, below, keys))).toEqual(expected);
});
