/** One process of TensorFlow Serving as the request path sees it, and what asking it again and again says of it. */
import { UnaryChannel } from '../transport/grpc/unary-channel.ts';
import type { Place } from './call-queue.ts';
import { Capacity } from './capacity.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { whyClosed } from './listening.ts';
import { type ModelProbe, PROBE_TIMEOUT_MS, probeModels } from './model-probe.ts';
import type { ProcessEnd } from './process.ts';
import { type ProbeResult, Readiness } from './readiness.ts';

/** One process of TensorFlow Serving. */
export interface Instance extends Place {
  readonly endpoint: ModelServerEndpoint;
  readonly channel: UnaryChannel;
  readonly readiness: Readiness;
  /** Whether it was ever ready. */
  hasServed: boolean;
  /** The model that no longer has a version here: its calls are refused at once, others are served. */
  gone: string | undefined;
  /** For how long it has given no answer of any kind, in ms; counted by probes. */
  silentMs: number;
  /** How its process ended last. */
  lastEnd: ProcessEnd | undefined;
  /** Whether it had calls of one process of the runtime alone then. */
  wasSole: boolean;
  /** When a call of it was lost last, or one ended that was given up. */
  lostAt: number;
}

/** What an instance is made with. */
export interface InstanceOptions {
  /** Models that must be AVAILABLE before an instance is ready. */
  readonly models: readonly string[];
  /** Makes a process that answers serve; it is not ready before. */
  readonly restore?: ((instance: Instance, index: number) => Promise<void>) | undefined;
  readonly maxReplyBytes: number;
  /** Calls that one instance works on at a time; others wait here. */
  readonly maxInFlight: number;
  /** Milliseconds without an answer to calls or probes after which an instance is stuck. */
  readonly stuckMs: number;
  /** Called when a version cannot be loaded by an instance that never served, with TensorFlow's message. */
  readonly onLoadFailure: (message: string) => void;
  /** Called when an instance has no version of a model any more that it has served. */
  readonly onGone?: ((reason: string) => void) | undefined;
  /** Called whenever an instance becomes ready. */
  readonly onReady?: ((index: number) => void) | undefined;
  /** Called for an instance that holds its connections open and answers nothing. */
  readonly onStuck?: ((index: number, reason: string) => void) | undefined;
}

/**
 * An instance that is asked for its state, again and again.
 * @param onChange called when it becomes ready, and when it no longer is
 */
export function watchedInstance(
  endpoint: ModelServerEndpoint,
  index: number,
  options: InstanceOptions,
  onChange: () => void,
): Instance {
  const channel = new UnaryChannel(
    { host: endpoint.host, port: endpoint.grpcPort, socket: endpoint.grpcSocket },
    {
      maxReplyBytes: options.maxReplyBytes,
      // At once, before another program can take its ports.
      onLost: () => lose(instance),
    },
  );
  const readiness: Readiness = new Readiness(() => probe(instance, index, options), {
    reason: 'the model server is starting',
    onChange: () => {
      if (readiness.reason === undefined) {
        instance.hasServed = true;
        options.onReady?.(index);
      }
      onChange();
    },
  });
  const instance: Instance = {
    endpoint,
    channel,
    readiness,
    inFlight: 0,
    isAlone: false,
    capacity: new Capacity(options.maxInFlight),
    hasServed: false,
    gone: undefined,
    silentMs: 0,
    lastEnd: undefined,
    wasSole: false,
    lostAt: Number.NEGATIVE_INFINITY,
  };
  return instance;
}

/** Notes that its connections are lost. */
export function lose(instance: Instance): void {
  instance.readiness.lost(whyLost(instance));
}

async function probe(
  instance: Instance,
  index: number,
  options: InstanceOptions,
): Promise<ProbeResult> {
  const asked = performance.now();
  const { result, failure, isAnswered } = await probeModels(instance.channel, options.models);
  if (failure !== undefined && !instance.hasServed) options.onLoadFailure(failure);
  if (isAnswered) instance.silentMs = 0;
  if (result.state === 'not connected') return { state: 'not ready', reason: whyLost(instance) };
  if (result.state === 'gone' && !instance.hasServed) return { ...result, state: 'not ready' };
  if (result.state !== 'unknown') noteGone(instance, result, options);
  if (result.state === 'ready' || result.state === 'gone')
    return restored(instance, index, options);
  if (result.state !== 'unknown' || isAnswered) return result;
  return unanswered(instance, index, options, asked);
}

function noteGone(
  instance: Instance,
  result: ModelProbe['result'],
  { onGone }: InstanceOptions,
): void {
  const reason = result.state === 'gone' ? result.reason : undefined;
  if (reason !== undefined && reason !== instance.gone) onGone?.(reason);
  instance.gone = reason;
}

async function restored(
  instance: Instance,
  index: number,
  { restore }: InstanceOptions,
): Promise<ProbeResult> {
  try {
    if (instance.readiness.reason !== undefined) await restore?.(instance, index);
    return { state: 'ready' };
  } catch {
    return { state: 'not ready', reason: whyLost(instance) };
  }
}

/** A probe without an answer: load, unless nothing else is answered either. */
function unanswered(
  instance: Instance,
  index: number,
  { stuckMs, onStuck }: InstanceOptions,
  asked: number,
): ProbeResult {
  // Where the whole container stood still, so did the server: no probe counts for more than its own time limit.
  instance.silentMs += Math.min(performance.now() - asked, PROBE_TIMEOUT_MS);
  const { silentMs } = instance;
  if (silentMs < stuckMs) return { state: 'unknown' };
  instance.silentMs = 0;
  instance.channel.close();
  const reason = `the model server has answered nothing for ${Math.round(silentMs / 1000)} s`;
  onStuck?.(index, reason);
  return { state: 'not ready', reason };
}

/** Keeps a reason that is already known. */
function whyLost({ endpoint, readiness }: Instance): string {
  return whyClosed(endpoint) ?? readiness.reason ?? 'the model server is restarting';
}
