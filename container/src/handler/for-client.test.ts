import { ServingError } from '../errors.ts';
import { plainError } from '../thrown.ts';
import { forClient } from './for-client.ts';
import { HttpError } from './http-error.ts';

test('errors with a status of their own are copied', () => {
  expect(forClient(new HttpError(422, 'no', { code: 'NO_DIGIT' }))).toMatchObject({
    name: 'HttpError',
    status: 422,
    message: 'no',
    code: 'NO_DIGIT',
  });
  const failed = new ServingError('MODEL_FAILED', 'no', { status: 400 });
  expect(forClient(failed)).toBeInstanceOf(ServingError);
  expect(forClient(failed)).toMatchObject({ code: 'MODEL_FAILED', status: 400, message: 'no' });
});

test('what the copy does not read stays behind', () => {
  const cause = new HttpError(422, 'x'.repeat(1e8), { code: 'y'.repeat(1e8) });
  Object.defineProperty(cause, 'cause', {
    get() {
      throw new Error('no');
    },
  });
  const copy = forClient(cause);
  expect(copy?.message).toHaveLength(4_096);
  expect(copy?.code).toHaveLength(256);
  expect(copy?.cause).toBeUndefined();
});

test.each([
  ['an ordinary error', new Error('x')],
  ['a status out of range', Object.assign(new HttpError(422, 'x'), { status: 200 })],
  ['a code of nobody', Object.assign(new ServingError('BAD_INPUT', 'x'), { code: 'x' })],
  ['a copy of a stranger', plainError(new HttpError(422, 'x'))],
])('%s is not for the client', (_what, thrown) => {
  expect(forClient(thrown)).toBeUndefined();
});
