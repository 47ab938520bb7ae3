import { ServingError } from '../errors.ts';

/** The ServingError that the work ends with. */
export async function failure(work: Promise<unknown>): Promise<ServingError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServingError);
  return error as ServingError;
}
