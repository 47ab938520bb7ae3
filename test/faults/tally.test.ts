import type { Answer, Question } from './question.ts';
import { readAnswers } from './raw-answers.ts';
import { Tally } from './tally.ts';

const QUESTION: Question = {
  path: '/invocations',
  contentType: 'application/json',
  body: Buffer.from('{}'),
  golden: 'seven',
};

const error = (status: number, code: string): Answer => ({
  status,
  text: JSON.stringify({ code }),
});

test.each<[string, Answer, readonly string[]]>([
  ['right', { status: 200, text: 'seven' }, []],
  ['wrong', { status: 200, text: 'one' }, []],
  ['refused', error(503, 'OVERLOADED'), []],
  // The request is right: whoever says otherwise is wrong.
  ['wrong', error(400, 'BAD_INPUT'), []],
  ['wrong', error(500, 'INTERNAL'), []],
  ['wrong', { status: 503, text: 'no code' }, []],
  ['wrong', error(404, 'MODEL_NOT_FOUND'), []],
  ['refused', error(404, 'MODEL_NOT_FOUND'), ['MODEL_NOT_FOUND']],
  ['lost', { lost: 'socket hang up' }, []],
])('%s: %j', (verdict, answer, allowed) => {
  expect(new Tally(allowed).count(QUESTION, answer, 0)).toBe(verdict);
});

test('an answer that its process was writing when it died is refused, not lost; one more is lost', () => {
  const tally = new Tally();
  for (let time = 0; time < 3; time++) tally.count(QUESTION, { lost: 'socket hang up' }, 0);
  expect(tally.counts(2)).toMatchObject({ tries: 3, refused: 2, lost: 1 });
});

test('recovery is measured by a request that was sent after the fault', () => {
  const tally = new Tally();
  const before = performance.now();
  tally.fault();
  tally.count(QUESTION, { status: 200, text: 'seven' }, before - 1);
  expect(tally.counts().recoveryMs).toBeUndefined();
  tally.count(QUESTION, { status: 200, text: 'seven' }, performance.now());
  expect(tally.counts().recoveryMs).toBeGreaterThanOrEqual(0);
});

test('answers are read from a connection one after another, whole ones only', () => {
  const bytes =
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 400 Bad Request\r\n\r\nHTTP/1.1 200';
  expect(readAnswers(Buffer.from(bytes))).toEqual([
    { status: 200, text: 'one' },
    { status: 400, text: '' },
  ]);
});
