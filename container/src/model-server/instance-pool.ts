/** The processes of TensorFlow Serving as the request path sees them: which are ready, which is least busy. */

import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import type { ModelVersionStatus } from '../backends/backend.ts';
import { ConnectionLost } from '../backends/connection-lost.ts';
import { GrpcError } from '../backends/grpc/grpc-error.ts';
import { UnaryChannel } from '../backends/grpc/unary-channel.ts';
import { ServingError } from '../errors.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { Readiness } from './readiness.ts';

/** One process of TensorFlow Serving. */
export interface Instance {
  readonly endpoint: ModelServerEndpoint;
  readonly channel: UnaryChannel;
  readonly readiness: Readiness;
  /** Calls that it is working on. */
  inFlight: number;
  /** Whether it was ever ready. */
  hasServed: boolean;
}

/** What the pool is made of. */
export interface InstancePoolOptions {
  readonly endpoints: readonly ModelServerEndpoint[];
  /** Models that must be AVAILABLE before an instance is ready; read anew by every probe. */
  readonly models: () => readonly string[];
  readonly maxReplyBytes: number;
  /** How long {@link InstancePool.whenReady} waits, in ms. */
  readonly waitMs: number;
  /** Called when a version cannot be loaded by an instance that never served, with TensorFlow's message. */
  readonly onLoadFailure: (message: string) => void;
}

/** Milliseconds after which a probe counts as failed. */
const PROBE_TIMEOUT_MS = 5000;

/** Instances with their state; knows nothing of the processes behind the ports. */
export class InstancePool {
  readonly instances: readonly Instance[];
  /** Resolves when an instance is ready for the first time; never where none ever is. */
  readonly firstReady: Promise<void>;
  readonly #options: InstancePoolOptions;
  readonly #waiting = new Set<() => void>();

  constructor(options: InstancePoolOptions) {
    this.#options = options;
    this.instances = options.endpoints.map((endpoint) => this.#instance(endpoint));
    this.firstReady = new Promise((resolve) => {
      const check = () => {
        if (this.#ready().length === 0) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
    });
  }

  /** Begins to ask the instances for their state, for the first time after `delayMs`. */
  start(delayMs: number): void {
    for (const { readiness } of this.instances) readiness.start(delayMs);
  }

  /**
   * Why the pool is not healthy; undefined where it is. Every instance must have been ready once; after
   * that one is enough, because the others are being restarted.
   */
  get reason(): string | undefined {
    const reasons = this.instances.map(({ readiness }) => readiness.reason);
    const missing = reasons.find((reason) => reason !== undefined);
    const started = this.instances.every(({ hasServed }) => hasServed);
    return started && reasons.includes(undefined) ? undefined : missing;
  }

  /** Resolves once an instance can serve. @throws ServingError MODEL_NOT_READY after the wait time */
  async whenReady(signal?: AbortSignalLike): Promise<void> {
    if (this.#ready().length > 0) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.delete(check);
        finish();
      };
      const check = () => {
        if (this.#ready().length > 0) settle(resolve);
      };
      const onAbort = () => settle(() => reject(signal?.reason));
      const timer = setTimeout(() => settle(() => reject(this.#notReady())), this.#options.waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(check);
    });
  }

  /**
   * Runs one call on the ready instance with the fewest in flight. Where the connection is lost the call
   * is made once more, on another instance or after a restart: inference has no side effects.
   * @throws ServingError MODEL_SERVER_GONE where it was lost twice
   */
  async use<T>(work: (instance: Instance) => Promise<T>, signal?: AbortSignalLike): Promise<T> {
    try {
      return await this.#attempt(work, signal);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    }
    try {
      return await this.#attempt(work, signal);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      throw new ServingError(
        'MODEL_SERVER_GONE',
        'the model server ended while it worked on the request, twice; it is being restarted, see its last lines in the log',
        { cause: error },
      );
    }
  }

  /** Stops asking and closes the connections. */
  close(): void {
    for (const { readiness, channel } of this.instances) {
      readiness.stop();
      channel.close();
    }
  }

  async #attempt<T>(
    work: (instance: Instance) => Promise<T>,
    signal?: AbortSignalLike,
  ): Promise<T> {
    await this.whenReady(signal);
    const instance = this.#ready().reduce((best, candidate) =>
      candidate.inFlight < best.inFlight ? candidate : best,
    );
    instance.inFlight += 1;
    try {
      return await work(instance);
    } catch (error) {
      if (error instanceof ConnectionLost)
        instance.readiness.lost('the model server is restarting');
      throw error;
    } finally {
      instance.inFlight -= 1;
    }
  }

  #ready(): Instance[] {
    return this.instances.filter(({ readiness }) => readiness.reason === undefined);
  }

  #notReady(): ServingError {
    return new ServingError(
      'MODEL_NOT_READY',
      `no model after ${this.#options.waitMs / 1000} s: ${this.reason}`,
    );
  }

  #instance(endpoint: ModelServerEndpoint): Instance {
    const channel = new UnaryChannel(
      { host: endpoint.host, port: endpoint.grpcPort, socket: endpoint.grpcSocket },
      { maxReplyBytes: this.#options.maxReplyBytes },
    );
    const readiness: Readiness = new Readiness(() => this.#probe(instance), {
      reason: 'the model server is starting',
      onChange: () => {
        if (readiness.reason === undefined) {
          instance.hasServed = true;
          // The first connection may be older than the socket.
          channel.reconnect();
        }
        for (const check of [...this.#waiting]) check();
      },
    });
    const instance: Instance = { endpoint, channel, readiness, inFlight: 0, hasServed: false };
    return instance;
  }

  async #probe({ channel, hasServed }: Instance): Promise<string | undefined> {
    const models = this.#options.models();
    const states = await Promise.all(
      (models.length === 0 ? [''] : models).map((model) => modelState(channel, model)),
    );
    const failure = states.find((state) => state.failure !== undefined)?.failure;
    if (failure !== undefined && !hasServed) this.#options.onLoadFailure(failure);
    return states.find(({ reason }) => reason !== undefined)?.reason;
  }
}

interface ModelState {
  /** Why the model cannot serve; undefined where it can. */
  readonly reason?: string;
  /** Why a version of it will never load, with TensorFlow's own message. */
  readonly failure?: string;
}

/** The state of a model; for the empty name, whether the server itself answers. */
async function modelState(channel: UnaryChannel, name: string): Promise<ModelState> {
  try {
    const { getModelStatus } = await import('./model-service.ts');
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    return stateOf(name, await getModelStatus(channel, { name }, { signal }));
  } catch (error) {
    if (error instanceof GrpcError && error.status !== GrpcStatus.UNAVAILABLE) {
      return name === '' ? {} : { reason: `model "${name}": ${error.message}` };
    }
    const reason =
      error instanceof ConnectionLost
        ? 'the model server does not accept connections yet'
        : `the model server does not answer: ${(error as Error).message}`;
    return { reason };
  }
}

function stateOf(name: string, versions: readonly ModelVersionStatus[]): ModelState {
  const waiting = versions.find(({ state }) => state === 'START' || state === 'LOADING');
  if (waiting) return { reason: `model "${name}" version ${waiting.version} is ${waiting.state}` };
  const broken = versions.find(({ state, errorMessage }) => state === 'END' && errorMessage !== '');
  const available = versions.some(({ state }) => state === 'AVAILABLE');
  const failure = broken && `model "${name}" version ${broken.version}: ${broken.errorMessage}`;
  if (failure) return { failure, ...(available ? {} : { reason: failure }) };
  return available ? {} : { reason: `model "${name}" is not available` };
}
