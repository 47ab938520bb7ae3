import type { RuntimeProcess } from './runtime-process.ts';

/** One request for an inference. */
export interface Invocation {
  readonly body: string | Uint8Array;
  /** Default: `application/json`. */
  readonly type?: string | undefined;
  readonly accept?: string;
  /** Custom attributes, with commas between. */
  readonly attributes?: string;
}

/** Posts a request to `/invocations`. */
export function invoke(
  { url }: Pick<RuntimeProcess, 'url'>,
  { body, type = 'application/json', accept, attributes }: Invocation,
): Promise<Response> {
  return fetch(`${url}/invocations`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': type,
      ...(accept !== undefined && { Accept: accept }),
      ...(attributes !== undefined && { 'X-Amzn-SageMaker-Custom-Attributes': attributes }),
    },
  });
}
