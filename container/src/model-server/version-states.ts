/**
 * Asks a process of TensorFlow Serving for the states of versions, and asks again as long as it has no thread for the
 * question: what a busy process refuses says nothing about its models.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ServingError } from '../errors.ts';
import type { ModelVersionState, ModelVersionStatus } from '../models/servable.ts';
import type { UnaryChannel } from '../transport/grpc/unary-channel.ts';
import { getModelStatus } from './model-service.ts';
import { hadNoThread, untilSeen } from './unseen.ts';

/** Between two looks. */
const LOOK_MS = 25;
/** A call that ends with the deadline may have been seen: so long before it no call is sent again. */
const LAST_CALL_MS = 500;

/** A limit of time: the signal is aborted at `at`, a time of `performance.now()`. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly at: number;
}

/** @param ms from now on */
export function deadlineIn(ms: number): Deadline {
  return { signal: AbortSignal.timeout(ms), at: performance.now() + ms };
}

/** Makes a call again as long as the process has no thread for it; shortly before the deadline the refusal is thrown. */
export function whileNoThread<T>(call: () => Promise<T>, { at }: Deadline): Promise<T> {
  const isOver = () => performance.now() > at - LAST_CALL_MS;
  return untilSeen(call, { isUnseen: hadNoThread, isOver });
}

/**
 * The versions of a model; none of one that the process does not know.
 * @throws ServingError REQUEST_TIMEOUT after the deadline, ConnectionLost, StatusError also where it had no thread
 */
export async function versionsOf(
  channel: UnaryChannel,
  name: string,
  deadline: Deadline,
): Promise<readonly ModelVersionStatus[]> {
  const { signal } = deadline;
  try {
    signal.throwIfAborted();
    return await whileNoThread(() => getModelStatus(channel, { name }, { signal }), deadline);
  } catch (error) {
    if (hadNoThread(error)) throw error;
    if (signal.aborted) {
      const message = `the model server has not done with model "${name}" in time: it still loads, or requests in flight keep it`;
      throw new ServingError('REQUEST_TIMEOUT', message, { cause: error });
    }
    if (error instanceof StatusError && error.code === GrpcStatus.NOT_FOUND) return [];
    throw error;
  }
}

/** Looks at the versions of models until each is in an accepted state. @throws as {@link versionsOf} */
export async function untilStates(
  channel: UnaryChannel,
  names: readonly string[],
  deadline: Deadline,
  willDo: (state: ModelVersionState) => boolean,
): Promise<void> {
  for (const name of names) {
    for (;;) {
      const versions = await versionsOf(channel, name, deadline);
      if (versions.every(({ state }) => willDo(state))) break;
      await delay(LOOK_MS);
    }
  }
}

/** Whether a version is loaded, or failed to: it does not change any more. */
export function isSettled(state: ModelVersionState): boolean {
  return state !== 'START' && state !== 'LOADING';
}
