/** An answer for measurements: how large it is, not what it says. */
import {
  type Answer,
  PredictionError,
  type PredictOptions,
  predict,
  predictStream,
  type Target,
} from '@sagemaker-tfs/client';

/** What is known of it. */
export interface CountedAnswer extends Pick<Answer, 'customAttributes'> {
  /** Size of the body. */
  readonly bytes: number;
}

/** An answer that is larger has no end. */
const MAX_GIB = 1;

/**
 * Asks, and counts the answer while it comes. That of an endpoint is held: to stream is another call, which another permission
 * allows.
 * @throws PredictionError
 */
export async function countedAnswer(
  target: Target,
  body: Uint8Array,
  options: PredictOptions,
): Promise<CountedAnswer> {
  if (!('url' in target)) {
    const { customAttributes, bytes } = await predict(target, body, options);
    return { customAttributes, bytes: bytes.byteLength };
  }
  const { customAttributes, chunks } = await predictStream(target, body, options);
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > MAX_GIB * 1024 ** 3) {
      const message = `the answer of ${target.url} holds more than ${MAX_GIB} GiB. Send less in one request.`;
      throw new PredictionError('ANSWER_TOO_LARGE', message);
    }
  }
  return { customAttributes, bytes };
}
