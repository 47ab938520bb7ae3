/** One look at a process of TensorFlow Serving: are its models there? */
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { loadOnce } from '../memory/load-once.ts';
import type { ModelVersionStatus } from '../models/servable.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import type { UnaryChannel } from '../transport/grpc/unary-channel.ts';
import type { ProbeResult } from './readiness.ts';

const modelService = loadOnce(() => import('./model-service.ts'));

/** Milliseconds after which a probe has found out nothing. */
export const PROBE_TIMEOUT_MS = 5000;

/** The process answers, and has no version of a model that it could load: one was taken away, or none is there yet. */
interface Gone {
  readonly state: 'gone';
  readonly reason: string;
}

/** What was found. */
export interface ModelProbe {
  readonly result: ProbeResult | { readonly state: 'not connected' } | Gone;
  /** Why a version of a model will never load, with TensorFlow's own message. */
  readonly failure?: string;
  /** Whether an answer of any kind came. */
  readonly isAnswered: boolean;
}

/**
 * Asks for the models one after another, so that a probe never takes more than one thread of the server; without
 * models, whether the server itself answers. Does not reject.
 */
export async function probeModels(
  channel: UnaryChannel,
  models: readonly string[],
): Promise<ModelProbe> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  let failure: string | undefined;
  let result: ModelProbe['result'] = { state: 'ready' };
  for (const name of models.length === 0 ? [''] : models) {
    const probe = await probeModel(channel, name, signal);
    failure ??= probe.failure;
    if (probe.result.state === 'gone') result = probe.result;
    else if (probe.result.state !== 'ready') return { ...probe, ...(failure && { failure }) };
  }
  return { result, isAnswered: true, ...(failure && { failure }) };
}

async function probeModel(
  channel: UnaryChannel,
  name: string,
  signal: AbortSignal,
): Promise<ModelProbe> {
  try {
    const { getModelStatus } = await modelService();
    return stateOf(name, await getModelStatus(channel, { name }, { signal }));
  } catch (error) {
    return stateAfter(error as Error, name);
  }
}

function stateAfter(error: Error, name: string): ModelProbe {
  if (error instanceof ConnectionLost) {
    return { result: { state: 'not connected' }, isAnswered: false };
  }
  if (!(error instanceof StatusError)) {
    // The time is up: it is busy, or gone in a way that the connection does not show.
    if (error.name === 'TimeoutError') return { result: { state: 'unknown' }, isAnswered: false };
    return notReady(`the model server does not answer: ${error.message}`, false);
  }
  // All threads are at work (`--grpc_max_threads`): that is load, not failure.
  if (isBusy(error)) return { result: { state: 'unknown' }, isAnswered: true };
  if (error.code === GrpcStatus.UNAVAILABLE) {
    return notReady(`the model server does not answer: ${error.message}`, true);
  }
  if (name === '') return { result: { state: 'ready' }, isAnswered: true };
  const reason = `model "${name}": ${error.message}`;
  if (error.code === GrpcStatus.NOT_FOUND)
    return { result: { state: 'gone', reason }, isAnswered: true };
  return notReady(reason, true);
}

function isBusy({ code }: StatusError): boolean {
  return code === GrpcStatus.RESOURCE_EXHAUSTED || code === GrpcStatus.DEADLINE_EXCEEDED;
}

function stateOf(name: string, versions: readonly ModelVersionStatus[]): ModelProbe {
  const waiting = versions.find(({ state }) => state === 'START' || state === 'LOADING');
  if (waiting)
    return notReady(`model "${name}" version ${waiting.version} is ${waiting.state}`, true);
  const broken = versions.find(({ state, errorMessage }) => state === 'END' && errorMessage !== '');
  const isAvailable = versions.some(({ state }) => state === 'AVAILABLE');
  const failure = broken && `model "${name}" version ${broken.version}: ${broken.errorMessage}`;
  return {
    result: resultOf(name, isAvailable, failure),
    isAnswered: true,
    ...(failure && { failure }),
  };
}

function resultOf(
  name: string,
  isAvailable: boolean,
  failure: string | undefined,
): ModelProbe['result'] {
  if (isAvailable) return { state: 'ready' };
  if (failure !== undefined) return { state: 'not ready', reason: failure };
  return { state: 'gone', reason: `model "${name}" has no version that is available` };
}

function notReady(reason: string, isAnswered: boolean): ModelProbe {
  return { result: { state: 'not ready', reason }, isAnswered };
}
