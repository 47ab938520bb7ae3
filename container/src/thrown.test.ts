import { inspect } from 'node:util';
import { plainError, readThrown } from './thrown.ts';

const no = (): never => {
  throw new Error('no');
};
const traps = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((name) => [name, no]),
) as ProxyHandler<object>;
const evil = (property: string) => Object.defineProperty(new Error('x'), property, { get: no });
const unreadable = 'it threw something that cannot be read';

test.each([
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['text', 'text', 'text'],
  ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
  ['an object with a message', { message: 'said' }, 'said'],
  ['an object whose text throws', { a: 1, toString: no }, '{ a: 1, toString: [Function: no] }'],
  ['a sparse array', new Array(2 ** 32 - 1), '[ <4294967295 empty items> ]'],
  ['a proxy', new Proxy({}, traps), unreadable],
  ['a proxy of an error', new Proxy(new Error('x'), traps), unreadable],
  ['a message that throws', evil('message'), unreadable],
  ['a stack that throws', evil('stack'), 'x'],
  ['a name that throws', evil('name'), 'x'],
  ['a cause that throws', evil('cause'), 'x'],
  ['a code that throws', evil('code'), 'x'],
  ['a symbol as name', Object.assign(new Error('x'), { name: Symbol('n') }), 'x'],
  ['an error', new Error('plain'), 'plain'],
])('%s is read as plain data', (_what, thrown, message) => {
  const read = readThrown(thrown);
  expect(read.message).toBe(message);
  expect(JSON.parse(JSON.stringify(read))).toEqual(read);
  expect(inspect(plainError(thrown))).toContain(message);
});

test('texts of any length are cut, and places stay', () => {
  const long = 'x'.repeat(50_000_000);
  const read = readThrown(Object.assign(new TypeError(long), { code: long }));
  expect(read.message).toHaveLength(4_096);
  expect(read.code).toHaveLength(256);
  expect(read.stack.length).toBeLessThan(25_000);
  expect(read.stack).toMatch(/^TypeError: x+\.\.\.\n {4}at /);
});

test('causes are part of the stack, a few of them, each once', () => {
  const chain = (length: number) => {
    let error = new Error('cause 0');
    for (let at = 1; at <= length; at++) error = new Error(`cause ${at}`, { cause: error });
    return error;
  };
  const { stack } = readThrown(chain(100_000));
  expect(stack).toContain('caused by: Error: cause 99999\n    at ');
  expect(stack.split('caused by: ')).toHaveLength(5);
  const circle = new Error('circle');
  circle.cause = new Error('its cause', { cause: circle });
  expect(readThrown(circle).stack.split('caused by: ')).toHaveLength(2);
});

test('code and status stay', () => {
  const thrown = Object.assign(new RangeError('x'), { code: 'E_X', status: 507 });
  expect(readThrown(thrown)).toMatchObject({ type: 'RangeError', code: 'E_X', status: 507 });
});

test('the line of code of a syntax error stays', () => {
  const stack =
    'file:///inference.mjs:1\nconst = 1\n\nSyntaxError: x\n    at compile (node:vm:1:1)';
  const thrown = Object.assign(new SyntaxError('x'), { stack });
  expect(readThrown(thrown).stack).toBe(stack);
});
