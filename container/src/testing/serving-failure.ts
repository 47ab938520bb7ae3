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

/** As `work`, for the ServingError that it ends with. */
export function failureOf<A extends unknown[]>(work: (...args: A) => Promise<unknown>) {
  return (...args: A): Promise<ServingError> => failure(work(...args));
}
