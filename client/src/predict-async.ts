/** Asynchronous inference: the input lies in S3 or is sent along, and the answer will lie in S3. */
import { checkEndpoint, checkNumbers } from './checks.ts';
import { formatCustomAttributes, type RequestAttributes } from './custom-attributes.ts';
import { PredictionError } from './errors/prediction-error.ts';
import { serviceError } from './errors/service-error.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import { endpointClient } from './targets/endpoint.ts';
import type { EndpointTarget } from './targets/target.ts';

/** How an asynchronous prediction is asked for. */
export interface PredictAsyncOptions extends RetryOptions {
  /** Media type of the input. */
  readonly contentType: string;
  readonly accept?: string;
  readonly customAttributes?: RequestAttributes;
  /** Names the inference in logs and notifications. Default: SageMaker makes one up. */
  readonly inferenceId?: string;
  /** Seconds that the model may take. Default: SageMaker's (15 minutes). */
  readonly invocationTimeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A prediction that will be. */
export interface AsyncPrediction {
  readonly inferenceId: string;
  /** S3 address of the answer. */
  readonly outputLocation: string;
  /** S3 address of the error, if the endpoint is set up for one. */
  readonly failureLocation: string | undefined;
}

/**
 * Queues a prediction at an endpoint with asynchronous inference.
 * @param request the request's body: `s3://bucket/key`, or its bytes, 128,000 at most
 * @throws PredictionError, BAD_OPTION for more bytes and what cannot be sent
 */
export async function predictAsync(
  target: EndpointTarget,
  request: string | Uint8Array,
  options: PredictAsyncOptions,
): Promise<AsyncPrediction> {
  checkEndpoint(target);
  checkNumbers(options);
  const requestInput = bodyOf(request);
  const { InvokeEndpointAsyncCommand } = await import('@aws-sdk/client-sagemaker-runtime');
  const client = await endpointClient(target);
  const { endpointName } = target;
  const { signal, customAttributes } = options;
  const input = {
    EndpointName: endpointName,
    ...requestInput,
    ContentType: options.contentType,
    Accept: options.accept,
    CustomAttributes: (customAttributes && formatCustomAttributes(customAttributes)) || undefined,
    InferenceId: options.inferenceId,
    InvocationTimeoutSeconds: options.invocationTimeoutSeconds,
  };
  const send = async () => {
    const sent = client.send(
      new InvokeEndpointAsyncCommand(input),
      signal && { abortSignal: signal },
    );
    return sent.catch((cause: unknown) => {
      throw signal?.aborted ? signal.reason : serviceError(cause, endpointName);
    });
  };
  const repeatsItself = (await client.config.maxAttempts()) > 1;
  const answer = await withRetries(send, repeatsItself ? { ...options, retries: 0 } : options);
  return {
    inferenceId: answer.InferenceId ?? '',
    outputLocation: answer.OutputLocation ?? '',
    failureLocation: answer.FailureLocation,
  };
}

/**
 * Bytes that a request may carry itself.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointAsync.html
 */
const MAX_INLINE = 128_000;

function bodyOf(request: string | Uint8Array): { InputLocation: string } | { Body: Uint8Array } {
  if (typeof request === 'string') return { InputLocation: request };
  if (!(request instanceof Uint8Array)) {
    const message =
      'the request is neither text nor bytes. Pass its s3:// address or a Uint8Array.';
    throw new PredictionError('BAD_OPTION', message);
  }
  if (request.byteLength <= MAX_INLINE) return { Body: request };
  throw new PredictionError(
    'BAD_OPTION',
    `the request has ${request.byteLength} bytes, but an asynchronous one carries at most ${MAX_INLINE}. Put it into S3 and give its s3:// address.`,
  );
}
