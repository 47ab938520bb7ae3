import { encodeNpy, numericTensor } from '@sagemaker-tfs/tensors';
import type { Expectation } from '../plan.ts';
import { checkExpectation } from './expectations.ts';
import { type Reply, readAnswer } from './reply.ts';

const npy = (shape: number[], values: number[]) =>
  Buffer.concat(encodeNpy(numericTensor('float32', shape, Float32Array.from(values))));
const files: Record<string, Uint8Array> = { 'golden.npy': npy([1, 3], [0.1, 0.7, 0.2]) };
const near = { digit: 7, scores: [0.1, 0.7004, 0.2], name: 'seven' };
files['seven.json'] = Buffer.from('7');
files['golden.json'] = Buffer.from(JSON.stringify({ predictions: [near] }));
files['other.JSON'] = Buffer.from(JSON.stringify({ predictions: [{ ...near, name: 'one' }] }));
files['fewer.json'] = Buffer.from('{"predictions":[{"digit":7}]}');
files['more.json'] = Buffer.from('{"predictions":[{"digit":7,"toString":1}]}');
files['scores.json'] = Buffer.from('[0.1, 0.7, 0.2, 0.3]');
const readFile = (name: string) => files[name] ?? new Uint8Array();

const reply = (body: Uint8Array | string, contentType: string): Reply => ({
  body: Buffer.from(body),
  contentType,
  customAttributes: '',
});
const json = reply(
  JSON.stringify({ predictions: [{ digit: 7, scores: [0.1, 0.7, 0.2], name: 'seven' }] }),
  'application/json; charset=utf-8',
);
const tensor = reply(npy([1, 3], [0.1, 0.7, 0.2]), 'application/x-npy');
const check = (answer: Reply, expectation: Expectation) =>
  checkExpectation(readAnswer(answer), expectation, readFile);

/** As the runtime writes what JSON has no form for. */
const bare = '{"predictions":[[NaN,1.0],[Infinity,-Infinity]]}';
const notFinite = reply(bare, 'application/json');
files['bare.json'] = Buffer.from(bare);
files['bare.npy'] = npy([2, 2], [Number.NaN, 1, Infinity, -Infinity]);
files['finite.json'] = Buffer.from('{"predictions":[[NaN,1.0],[Infinity,1e30]]}');

const scores = '$.predictions[0].scores';

test.each<[Reply, Expectation]>([
  [json, { path: '$.predictions[0].digit', equals: 7 }],
  [json, { path: '$.predictions[0].digit', equals: 6.9, tolerance: 0.2 }],
  [json, { path: '$.predictions[0]', equals: { name: 'seven' } }],
  [json, { path: scores, equals: [0.1, 0.7, 0.2], tolerance: 1e-6 }],
  [json, { path: scores, topClass: 1 }],
  [json, { path: scores, topClass: 1, score: 0.72, tolerance: 0.05 }],
  [json, { path: scores, shape: [3], dtype: 'float32' }],
  [json, { path: '$.predictions[0].name', shape: [], dtype: 'string' }],
  [json, { path: '$.predictions', shape: [-1] }],
  [tensor, { shape: [-1, 3], dtype: 'float32' }],
  [tensor, { path: '$[0]', topClass: 1 }],
  [tensor, { golden: 'golden.npy' }],
  [json, { golden: 'golden.json' }],
  [json, { path: '$.predictions[0].digit', golden: 'seven.json' }],
  [notFinite, { golden: 'bare.json' }],
  [notFinite, { path: '$.predictions', golden: 'bare.npy' }],
  [reply(`${bare}\n${bare}`, 'application/jsonlines'), { path: '$[1]', golden: 'bare.json' }],
])('holds: %#', (answer, expectation) => {
  expect(check(answer, expectation)).toBeUndefined();
});

test.each<[Reply, Expectation, string, string, string]>([
  [
    json,
    { path: '$.predictions[0].digit', equals: 1 },
    'value at $.predictions[0].digit',
    '1',
    '7',
  ],
  [json, { path: '$.other', equals: 1 }, 'value at $.other', '1', 'nothing'],
  [
    notFinite,
    { golden: 'finite.json' },
    'finite.json at $.predictions[1][1]',
    '1e+30 (absolute 0.00001, relative 0.001)',
    '-Infinity',
  ],
  [json, { path: scores, topClass: 2 }, `class at ${scores}`, 'class 2', 'class 1 with score 0.7'],
  [
    json,
    { path: scores, topClass: 1, score: 0.9 },
    `class at ${scores}`,
    'class 1 with score 0.9 within 0.05',
    'class 1 with score 0.7',
  ],
  [
    json,
    { path: scores, shape: [4] },
    `dtype and shape at ${scores}`,
    'any dtype [4]',
    'number [3]',
  ],
  [
    tensor,
    { shape: [1, 3], dtype: 'int64' },
    'dtype and shape at $',
    'int64 [1, 3]',
    'float32 [1, 3]',
  ],
  [
    reply(npy([1, 3], [0.1, 0.6, 0.2]), 'application/x-npy'),
    { golden: 'golden.npy', relative: 0.01 },
    'golden.npy at $',
    '0.699999988079071 at element 1 (absolute 0.00001, relative 0.01)',
    '0.6000000238418579',
  ],
  [
    reply(npy([3], [0.1, 0.7, 0.2]), 'application/x-npy'),
    { golden: 'golden.npy' },
    'golden.npy at $',
    'numbers of shape [1, 3]',
    'number [3]',
  ],
  [
    reply(npy([1, 3], [0.1, Number.NaN, 0.2]), 'application/x-npy'),
    { golden: 'golden.npy' },
    'golden.npy at $',
    '0.699999988079071 at element 1 (absolute 0.00001, relative 0.001)',
    'NaN',
  ],
  [
    json,
    { golden: 'golden.json', relative: 1e-5 },
    'golden.json at $.predictions[0].scores[1]',
    '0.7004 (absolute 0.00001, relative 0.00001)',
    '0.7',
  ],
  [
    json,
    { golden: 'other.JSON' },
    'other.JSON at $.predictions[0].name',
    '"one" (absolute 0.00001, relative 0.001)',
    '"seven"',
  ],
  [
    json,
    { golden: 'fewer.json' },
    'fewer.json at $.predictions[0].scores',
    'nothing (absolute 0.00001, relative 0.001)',
    '[0.1,0.7,0.2]',
  ],
  [
    reply('{"predictions":[{"digit":7}]}', 'application/json'),
    { golden: 'more.json' },
    'more.json at $.predictions[0].toString',
    '1 (absolute 0.00001, relative 0.001)',
    'nothing',
  ],
  [
    json,
    { path: scores, golden: 'scores.json' },
    `scores.json at ${scores}[3]`,
    '0.3 (absolute 0.00001, relative 0.001)',
    'nothing',
  ],
  [
    tensor,
    { golden: 'golden.json' },
    'golden.json at $',
    '{"predictions":[{"digit":7,"scores":[0.1,0.7004,0.2],"name":"seven"}]} (absolute 0.00001, relative 0.001)',
    '[[0.10000000149011612,0.699999988079071,0.20000000298023224]]',
  ],
])('says what was expected and what came: %#', (answer, expectation, what, expected, got) => {
  expect(check(answer, expectation)).toEqual({ check: what, expected, got });
});

test('JSON lines are a list', () => {
  const answer = readAnswer(reply('{"a":1}\n{"a":2}\n', 'application/jsonlines'));
  expect(answer).toEqual({ kind: 'value', value: [{ a: 1 }, { a: 2 }] });
});

describe('an infinity that was expected', () => {
  test.each(['1.0', '-1e30', '-Infinity', 'NaN'])('is not %s', (got) => {
    const other = reply(bare.replace('[Infinity', `[${got}`), 'application/json');
    for (const expectation of [
      { golden: 'bare.json' },
      { path: '$.predictions', golden: 'bare.npy' },
      { path: '$.predictions[1][0]', equals: Infinity, tolerance: 1 },
    ]) {
      expect(check(other, expectation)).toBeDefined();
    }
  });
});
