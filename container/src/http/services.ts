/** Everything that answering a request needs, made once at the start. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { Logger } from 'pino';
import type { Archive } from '../archive/archive.ts';
import type { Backends } from '../backends/backends.ts';
import type { Environment } from '../environment.ts';
import type { ModelServerEndpoint } from '../model-server/endpoint.ts';
import type { CloudWatchMetrics } from '../observability/cloudwatch.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { MetricsPage } from '../observability/metrics-page.ts';

/** Whether models can be called. */
export interface ModelReadiness {
  /** Why not; undefined where they can. Answers at once. */
  readonly reason: string | undefined;
  /** Resolves when they can. @throws ServingError MODEL_NOT_READY after the wait time */
  whenReady(signal?: AbortSignalLike): Promise<void>;
  /** Resolves when they can for the first time; never where they never can. */
  readonly firstReady: Promise<void>;
}

/** What the routes share. */
export interface Services {
  readonly environment: Environment;
  readonly log: Logger;
  readonly backends: Backends;
  readonly readiness: ModelReadiness;
  /** The model of requests that name none; undefined in multi-model mode. */
  readonly defaultModel: string | undefined;
  /** Resolves when the event loop is watched, before which no handler may run; undefined where there are none. */
  readonly watched: Promise<void> | undefined;
  /** The archive that a model came in. */
  archiveOf(modelName: string): Archive;
  /**
   * Keeps a model loaded until the function that is returned is called; undefined where models neither come nor go.
   */
  readonly holdModel: ((modelName: string) => () => void) | undefined;
  /** What this process counts. */
  readonly metrics: Metrics;
  /** What `GET /metrics` answers: of all processes. */
  readonly metricsPage: MetricsPage;
  /** Undefined unless asked for. */
  readonly cloudWatch: CloudWatchMetrics | undefined;
  /** Where TensorFlow Serving is, for handlers that call it themselves; undefined where it does not run. */
  readonly endpoint: ModelServerEndpoint | undefined;
}
