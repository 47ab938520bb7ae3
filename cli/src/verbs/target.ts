/** Who answers a request: options that `invoke` and `bench` share. */
import type { Target } from '@sagemaker-tfs/client';
import { CommandError, usageError } from '../errors.ts';

/** Values of the options. */
export interface TargetOptions {
  readonly url?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly variant?: string;
  readonly component?: string;
}

/** Where `serve` listens by default. */
export const LOCAL_RUNTIME = 'http://127.0.0.1:8080';

/** The target that the options name; a runtime on this machine where they name none. @throws CommandError USAGE */
export function targetOf({ url, endpoint, region, variant, component }: TargetOptions): Target {
  if (endpoint === undefined) {
    if (region ?? variant)
      throw usageError('--region and --variant are of an endpoint. Give --endpoint too.');
    if (component) throw usageError('--component is of an endpoint. Give --endpoint too.');
    return { url: url ?? LOCAL_RUNTIME };
  }
  if (url) throw usageError('--url and --endpoint exclude each other. Give one.');
  if (variant && component) {
    throw usageError('--variant and --component exclude each other. Give one.');
  }
  return { endpointName: endpoint, ...(region && { region }) };
}

/** The error, with what to start where nothing answers, and with the command's options in place of the client's. */
export function withHint(error: unknown, target: Target): unknown {
  const { code } = error as { code?: unknown };
  if (code === 'NO_REGION')
    return usageError('no AWS region is set. Give --region, or set AWS_REGION.');
  if (code === 'NO_CREDENTIALS') {
    return new CommandError(
      'AWS_CREDENTIALS',
      'no AWS credentials were found. Set AWS_PROFILE, or run aws sso login.',
      { cause: (error as { cause?: unknown }).cause },
    );
  }
  if (!('url' in target) || code !== 'CONNECTION_REFUSED') return error;
  return nothingAnswers(target.url);
}

/** Where nobody listens. */
export function nothingAnswers(url: string): CommandError {
  return new CommandError(
    'NO_RUNTIME',
    `nothing answers at ${url}. Start a runtime with: sagemaker-tfs serve DIR`,
  );
}
