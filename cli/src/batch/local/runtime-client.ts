/** Requests of the local agent: when to send, what counts as an answer, what is worth another try. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchStrategy, mayHelpToRetry, waitAfter } from '@sagemaker-tfs/batch';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { errors, Pool } from 'undici';
import * as z from 'zod';
import { CommandError, explain } from '../../errors.ts';
import { runtimeError } from '../../serving/runtime-error.ts';

/** What the container answers to `GET /execution-parameters`. */
interface ExecutionParameters {
  readonly maxConcurrentTransforms: number;
  readonly strategy: BatchStrategy;
  readonly maxPayloadInMB: number;
}

const schema = z.object({
  MaxConcurrentTransforms: z.number().int().positive().optional(),
  BatchStrategy: z.enum(['SINGLE_RECORD', 'MULTI_RECORD']).optional(),
  MaxPayloadInMB: z.number().int().min(0).optional(),
});

const CUSTOM_ATTRIBUTES = CUSTOM_ATTRIBUTES_HEADER.toLowerCase();
/** Milliseconds between two looks at `/ping`. */
const PING_EVERY = 250;
/** Milliseconds that a runtime has to become healthy, and to come back when it was lost. */
const READY_WITHIN = 60_000;
const BACK_WITHIN = 5_000;

/** Waits until `/ping` answers 200. @throws CommandError RUNTIME_NOT_READY */
export async function waitUntilHealthy(url: string, signal?: AbortSignal): Promise<void> {
  const reason = await unhealthy(url, READY_WITHIN, signal);
  if (reason === undefined) return;
  throw new CommandError(
    'RUNTIME_NOT_READY',
    `${url}/ping did not answer 200 within ${READY_WITHIN / 1_000} s: ${sentence(reason)} See its log.`,
  );
}

async function unhealthy(url: string, within: number, signal?: AbortSignal) {
  const deadline = performance.now() + within;
  for (;;) {
    signal?.throwIfAborted();
    const reason = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => (response.ok ? undefined : await response.text()),
      explain,
    );
    if (reason === undefined || performance.now() > deadline) return reason;
    await sleep(PING_EVERY);
  }
}

/**
 * Asks how the container wants to be called; what it leaves open is as SageMaker assumes it.
 * @throws CommandError EXECUTION_PARAMETERS for an answer that SageMaker could not use either
 */
export async function askExecutionParameters(url: string): Promise<ExecutionParameters> {
  const response = await fetch(`${url}/execution-parameters`);
  const text = await response.text();
  const told = response.ok ? parseParameters(text, url) : {};
  return {
    maxConcurrentTransforms: told.MaxConcurrentTransforms ?? 1,
    strategy: told.BatchStrategy === 'SINGLE_RECORD' ? 'SingleRecord' : 'MultiRecord',
    maxPayloadInMB: told.MaxPayloadInMB ?? 6,
  };
}

function parseParameters(text: string, url: string): z.output<typeof schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CommandError(
      'EXECUTION_PARAMETERS',
      `${url}/execution-parameters answers ${text.slice(0, 200)}. SageMaker takes JSON with MaxConcurrentTransforms, BatchStrategy and MaxPayloadInMB.`,
      { cause },
    );
  }
}

/** Why a request has no answer. */
export interface RequestFailure {
  /** HTTP status of the last try, or undefined if no answer came. */
  readonly status: number | undefined;
  readonly message: string;
}

/** What a client is made from. */
export interface ClientOptions {
  readonly url: string;
  readonly connections: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Tries after the first. */
  readonly maxRetries: number;
  /** Seconds until a try that is not answered counts as lost. */
  readonly timeoutSeconds: number;
  /** Gets the custom attributes of every answer of 200. */
  readonly onAnswer?: (customAttributes: string) => void;
}

/** Sends requests to one runtime. */
export interface RuntimeClient {
  /**
   * Sends a body, again where that may help (429, 5xx, lost connections), and hands the answer to `receive`;
   * each try that was answered with 200 calls it anew.
   * @throws what `receive` throws about anything but the connection; CommandError RUNTIME_LOST where the
   * runtime is gone, so that the inputs that are left are not blamed for it
   */
  send(
    body: Uint8Array,
    receive: (answer: AsyncIterable<Uint8Array>) => Promise<void>,
  ): Promise<RequestFailure | undefined>;
  /** Ends at once, with all that is in flight. */
  destroy(): Promise<void>;
}

/** Keeps connections to a runtime. */
export function runtimeClient(options: ClientOptions): RuntimeClient {
  const milliseconds = options.timeoutSeconds * 1_000;
  const pool = new Pool(options.url, {
    connections: options.connections,
    headersTimeout: milliseconds,
    bodyTimeout: milliseconds,
  });
  const attempt: RuntimeClient['send'] = async (body, receive) => {
    try {
      const response = await pool.request({
        method: 'POST',
        path: '/invocations',
        headers: { ...options.headers },
        body,
      });
      if (response.statusCode === 200) {
        options.onAnswer?.(String(response.headers[CUSTOM_ATTRIBUTES] ?? ''));
        await receive(response.body);
        return undefined;
      }
      return {
        status: response.statusCode,
        message: runtimeError(await response.body.text()).message.slice(0, 1_000),
      };
    } catch (error) {
      if (!isLostConnection(error)) throw error;
      return { status: undefined, message: explain(error) };
    }
  };
  return {
    async send(body, receive) {
      for (let tries = 0; ; tries++) {
        const failure = await attempt(body, receive);
        if (!failure || pool.destroyed) return failure;
        if (failure.status !== undefined && !mayHelpToRetry(failure.status)) return failure;
        if (tries >= options.maxRetries) {
          await checkIsThere(options.url, failure);
          return failure;
        }
        await sleep(waitAfter(tries + 1));
      }
    },
    destroy: () => pool.destroy(),
  };
}

async function checkIsThere(url: string, { status, message }: RequestFailure): Promise<void> {
  if (status !== undefined) return;
  const reason = await unhealthy(url, BACK_WITHIN);
  if (reason === undefined) return;
  throw new CommandError(
    'RUNTIME_LOST',
    `the runtime at ${url} does not answer any more: ${sentence(message)} ${sentence(reason)} Finished outputs are kept. Run the same command again for the rest.`,
  );
}

/** Codes of sockets and of undici for connections that broke or never came to be. */
const LOST = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH']);

function isLostConnection(error: unknown): boolean {
  if (error instanceof errors.UndiciError) return true;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return LOST.has(String(code)) || (cause !== undefined && isLostConnection(cause));
}
