/** Answers that no model of this repository gives. */
import type { Answer } from '@sagemaker-tfs/client';
import { readAnswer } from '../../../client/src/answer/answer.ts';
import type { Style } from '../output/style.ts';
import { answerLines } from './answer-lines.ts';

const plain = (text: string) => text;
const styleOf = (width: number): Style => ({
  good: plain,
  bad: plain,
  quiet: plain,
  strong: plain,
  width,
});

function answerOf(body: unknown, contentType = 'application/json'): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const bytes = Buffer.from(text);
  return readAnswer({ status: 200, contentType, customAttributes: '', bytes }, { maxBytes: 1e9 });
}

const lines = (answer: Answer, width = 80) => answerLines(answer, 5.234, styleOf(width));

const BOXES = {
  predictions: [
    [
      { box: [0.1, 0.2, 0.5, 0.6], score: 0.92, class: 1, label: 'person' },
      { box: [0, 0, 1, 1], score: 0.3, class: 7 },
    ],
  ],
};

test('boxes: names, scores, corners', () => {
  expect(lines(answerOf(BOXES))).toEqual([
    expect.stringMatching(/^✓ 200 · application\/json · .* · 5\.23 ms$/),
    '  person    92.0 %  0.100,0.200 to 0.500,0.600',
    '  class 7   30.0 %  0.000,0.000 to 1.000,1.000',
    '  corners: top,left to bottom,right, as shares of the picture',
  ]);
  expect(lines(answerOf({ predictions: [[]] })).join()).not.toContain('NaN');
});

test('scores that are no shares have bars from the lowest to the best one, and no percent sign', () => {
  const logits = { predictions: [[-2, 8.5, 3.25]] };
  const [, best, second, worst] = lines(answerOf(logits));
  expect(best).toMatch(/^ {2}class 1 {2}█{40} {3}8\.5$/);
  expect(second?.match(/█/g)).toHaveLength(20);
  expect(worst).toMatch(/^ {2}class 0 {2} +-2$/);
});

test('of several inputs each has its best class, and its number', () => {
  const scores = [...Array(12).keys()].map((at) => (at % 2 ? [0.9, 0.1] : [0.25, 0.75]));
  const [, title, first, second, ...rest] = lines(answerOf({ predictions: scores }));
  expect(title).toBe('  best class of each of 12 inputs');
  expect(first).toMatch(/^ {3}1 {2}class 1 {2}█+.* 75\.0 %$/);
  expect(second).toMatch(/^ {3}2 {2}class 0 {2}█+.* 90\.0 %$/);
  expect(rest).toContain('  … and 2 more inputs');
});

test('a JSON answer, which has neither the name nor the dtype of an only output, is given none', () => {
  const shown = lines(answerOf({ predictions: [[0.5, 0.25, 0.25]] })).join('\n');
  expect(shown).toContain('  predictions  numbers [1,3]  0.5 0.25 0.25');
  expect(shown).not.toMatch(/float|output/);
});

test('bytes that are no text are named by kind and size', () => {
  const png = Buffer.concat([Buffer.from('iVBORw0KGgo=', 'base64'), Buffer.alloc(427)]);
  const rows = [png, Buffer.from([0xc3, 0x28])].map((bytes) => ({ b64: bytes.toString('base64') }));
  const shown = lines(answerOf({ outputs: { mask_bytes: rows, text: ['plain', 'é'] } })).join('\n');
  expect(shown).toMatch(/mask_bytes +text \[2\] +PNG, 435 B binary, 2 B$/m);
  expect(shown).toMatch(/text +text \[2\] +"plain" "é"$/m);
  expect(shown).not.toContain('\uFFFD');
});

test.each([20, 40, 80, 200])('no line is wider than %i columns', (width) => {
  const answers = [
    answerOf(BOXES),
    answerOf({ predictions: [Array.from({ length: 1000 }, (_, at) => at / 1e6)] }),
    answerOf({ outputs: { ['a'.repeat(300)]: [[1, 2]], b: ['x'.repeat(500)] } }),
    answerOf({ anything: { else: 'y'.repeat(500) } }),
    answerOf('a,b\n1,2\n'.repeat(50), 'text/csv'),
    answerOf('binary', 'application/octet-stream'),
  ];
  for (const answer of answers) {
    const shown = lines(answer, width);
    expect(Math.max(...shown.map((line) => Array.from(line).length))).toBeLessThanOrEqual(width);
    expect(shown.length).toBeLessThan(70);
  }
});

test('in 40 columns names, facts and values are whole', () => {
  const label = 'a label of many words that is longer than its column';
  const boxes = [[{ box: [0, 0, 0.5, 1], score: 0.5, class: 1, label }]];
  const values = Array.from({ length: 8 }, (_, at) => 1234.5 + at);
  const shown = [
    ...lines(answerOf({ predictions: boxes }), 40),
    ...lines(answerOf({ outputs: { probabilities: values, b: ['c'] } }), 40),
    ...lines(answerOf(`${'word '.repeat(20)}\n`, 'text/plain'), 40),
  ];
  const text = shown.join(' ').replace(/\s+/g, ' ');
  expect(text).toContain('a label of many words 50.0 % 0.000,0.000 to 0.500,1.000 that is longer');
  expect(text).toContain('corners: top,left to bottom,right, as shares of the picture');
  expect(text.match(/5\.23 ms/g)).toHaveLength(3);
  expect(text).toMatch(/probabilities numbers \[8\](?: 12\d\d)+ …/);
  expect(text.match(/\bword\b/g)).toHaveLength(20);
});

test('nothing in an answer moves the cursor, colors the screen or turns text round', () => {
  const evil = '\x1b[2J\x1b]0;owned\x07\r\u202egnp.exe\x9b31m';
  const answers = [
    answerOf({ predictions: [[{ box: [0, 0, 1, 1], score: 1, class: 1, label: evil }]] }),
    answerOf({ outputs: { [evil]: [1], names: [evil] } }),
    answerOf({ free: evil }),
    answerOf(`${evil}\n`, 'text/plain'),
  ];
  for (const answer of answers) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not come through
    expect(lines(answer).join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/);
  }
});

test('64-bit integers keep their digits; what is not a number is shown as such', () => {
  const text = lines(answerOf('{"outputs": {"a": [9007199254740993], "b": [NaN, Infinity]}}')).join(
    '\n',
  );
  expect(text).toContain('numbers [1]  9007199254740993');
  expect(text).toMatch(/\[2\] {2}NaN Infinity/);
});

test('scores that are not finite make no bar and no error', () => {
  const shown = lines(answerOf('{"predictions": [[NaN, 0.5, Infinity]]}')).join('\n');
  expect(shown).toContain('class');
});
