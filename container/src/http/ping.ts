/** `GET /ping`: whether this container can answer. The state is cached, so this costs nothing. */
import { ServingError } from '../errors.ts';
import type { Reply } from './reply.ts';
import type { Services } from './services.ts';

/**
 * 200 with an empty body, as SageMaker wants it, once every model is available.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html
 * @throws ServingError MODEL_NOT_READY with the reason before
 */
export function ping({ readiness }: Services): Reply {
  const { reason } = readiness;
  if (reason !== undefined) throw new ServingError('MODEL_NOT_READY', reason);
  return { status: 200, headers: {}, body: [] };
}
