/** An inference component that sleeps refuses its first requests: they wake it, and are sent again. */
import { hasNoCapacity } from '@sagemaker-tfs/tensors/no-capacity';
import { smokeTestFailure } from '../../errors.ts';

const POLL_MS = 15_000;

/**
 * Sends until there is a copy.
 * @param deadline milliseconds since 1970
 * @throws ConstructError SMOKE_TEST_FAILED if the component sleeps on
 */
export async function whenAwake<T>(deadline: number, send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!hasNoCapacity(error)) throw error;
      if (Date.now() + POLL_MS > deadline) {
        throw smokeTestFailure('copies of the component', 'one in time', 'none: it sleeps');
      }
      console.log('no copy yet: asked again in 15 s');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
