/** Everything that answering a request needs, made once at the start. */
import type { Logger } from 'pino';
import type { Archive } from '../archive/archive.ts';
import type { Backends } from '../backends/backends.ts';
import type { Environment } from '../environment.ts';
import type { ModelReadiness } from '../model-host/model-host.ts';
import type { ModelServerEndpoint } from '../model-server/endpoint.ts';
import type { CloudWatchMetrics } from '../observability/cloudwatch.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { MetricsPage } from '../observability/metrics-page.ts';
import type { Tracer } from '../observability/tracer.ts';

/** What the routes share. */
export interface Services {
  readonly environment: Environment;
  readonly log: Logger;
  readonly backends: Backends;
  readonly readiness: ModelReadiness;
  /** The model of requests that name none; undefined in multi-model mode. */
  readonly defaultModel: string | undefined;
  /** Resolves when the event loop is watched, before which no handler may run; undefined if there are none. */
  readonly watched: Promise<void> | undefined;
  /** The archive that a model came in. */
  archiveOf(modelName: string): Archive;
  /**
   * Keeps a model loaded until the function that is returned is called; undefined if models neither come nor go.
   */
  readonly holdModel: ((modelName: string) => () => void) | undefined;
  /** What this process counts. */
  readonly metrics: Metrics;
  /** What `GET /metrics` answers: of all processes. */
  readonly metricsPage: MetricsPage;
  /** Undefined unless asked for. */
  readonly cloudWatch: CloudWatchMetrics | undefined;
  /** Undefined unless asked for. */
  readonly tracer: Tracer | undefined;
  /** Where TensorFlow Serving is, for handlers that call it themselves; undefined if it does not run. */
  readonly endpoint: ModelServerEndpoint | undefined;
}
