/** Errors of the SageMaker runtime API. */
import { hasNoCapacity } from '@sagemaker-tfs/tensors/no-capacity';
import { containerError } from './container-error.ts';
import { networkError } from './network-error.ts';
import { type ClientCode, PredictionError } from './prediction-error.ts';

/** What is read of the SDK's errors; all of it comes from outside. */
interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  readonly OriginalStatusCode?: number;
  readonly OriginalMessage?: string;
  readonly LogStreamArn?: string;
}

/**
 * The error for what the SDK threw for an endpoint. `ModelError` becomes what the container said, with the
 * container's status and code.
 */
export function serviceError(cause: unknown, endpointName: string): PredictionError {
  const error = (cause ?? {}) as ServiceError;
  const from = `endpoint ${endpointName}`;
  const status = error.$metadata?.httpStatusCode;
  if (error.name === 'ModelError') return modelError(error, from);
  const known = knownError(error, endpointName);
  if (known) return new PredictionError(known[0], known[1], { cause, status });
  // Without a status no answer came, and the error is the network's.
  if (status === undefined) return networkError(cause, from, 'Check the region and the network.');
  const message = error.message || 'no explanation';
  return new PredictionError(error.name ?? `HTTP_${status}`, `${from}: ${message}`, {
    cause,
    status,
    retryAfterSeconds: retryAfter(error.$response?.headers?.['retry-after']),
  });
}

/** Seconds that a `Retry-After` header asks for, given as seconds or as a date (RFC 9110, section 10.2.3). */
export function retryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined;
  const seconds = /^\d+$/.test(header.trim())
    ? Number(header)
    : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

function modelError(error: ServiceError, from: string): PredictionError {
  const log = error.LogStreamArn;
  return containerError(
    {
      status: error.OriginalStatusCode ?? 500,
      body: error.OriginalMessage ?? '',
      from: `the container of ${from}`,
      fallbackCode: 'MODEL_ERROR',
      hint: log ? `Its log: ${log}` : undefined,
    },
    { cause: error },
  );
}

function knownError(error: ServiceError, endpointName: string): [ClientCode, string] | undefined {
  const { name = '', message = '' } = error;
  if (hasNoCapacity(error)) {
    const advice = 'Waking takes minutes: send it again later, or give wakeSeconds.';
    return ['ASLEEP', `the component asked of endpoint ${endpointName} has no copies. ${advice}`];
  }
  if (/Endpoint .* not found/i.test(message)) {
    const advice = 'Check the name, the region and the account.';
    return ['ENDPOINT_NOT_FOUND', `there is no endpoint ${endpointName}: ${message} ${advice}`];
  }
  if (/AccessDenied|UnrecognizedClient|ExpiredToken|InvalidSignature/i.test(name)) {
    const advice =
      'The caller needs sagemaker:InvokeEndpoint on this endpoint and credentials that are valid.';
    return ['ACCESS_DENIED', `endpoint ${endpointName} refuses: ${message} ${advice}`];
  }
  // In a browser there is no provider, and the error has no name of its own.
  if (/CredentialsProvider|TokenProvider/.test(name) || /^Credential is missing/.test(message)) {
    return [
      'NO_CREDENTIALS',
      `no AWS credentials to call endpoint ${endpointName}: ${message}. Set AWS_PROFILE, or give a client.`,
    ];
  }
  if (/region is missing/i.test(message)) {
    const advice = 'Give a region, or set AWS_REGION.';
    return ['NO_REGION', `no AWS region for endpoint ${endpointName}. ${advice}`];
  }
  return undefined;
}
