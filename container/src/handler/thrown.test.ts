import { inspect } from 'node:util';
import { ServingError } from '../errors.ts';
import { HttpError } from './http-error.ts';
import { isForClient, readThrown } from './thrown.ts';

const no = (): never => {
  throw new Error('no');
};
const traps = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((name) => [name, no]),
) as ProxyHandler<object>;
const evil = (property: string) => Object.defineProperty(new Error('x'), property, { get: no });

test.each([
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['text', 'text', 'text'],
  ['an object without a prototype', Object.create(null), 'it threw something that cannot be read'],
  ['a proxy', new Proxy({}, traps), 'it threw something that cannot be read'],
  [
    'a proxy of an error',
    new Proxy(new Error('x'), traps),
    'it threw something that cannot be read',
  ],
  ['a message that throws', evil('message'), 'it threw something that cannot be read'],
  ['a stack that throws', evil('stack'), 'x'],
  ['a name that throws', evil('name'), 'x'],
  ['an error', new Error('plain'), 'plain'],
])('%s is read as a plain error', (_what, thrown, message) => {
  expect(isForClient(thrown)).toBe(false);
  const plain = readThrown(thrown);
  expect(plain.message).toBe(message);
  expect(inspect(plain)).toContain(message);
});

test('messages of any length are cut, and places stay', () => {
  const plain = readThrown(new TypeError('x'.repeat(50_000_000)));
  expect(plain.message).toHaveLength(4_096);
  expect(plain.stack?.length).toBeLessThan(25_000);
  expect(plain.stack).toMatch(/^TypeError: x+\.\.\.\n {4}at /);
});

test('errors with a status of their own are for the client', () => {
  expect(isForClient(new HttpError(422, 'no'))).toBe(true);
  expect(isForClient(new ServingError('BAD_INPUT', 'no'))).toBe(true);
});
