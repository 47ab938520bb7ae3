/** What the processes of the runtime tell each other. */
import type { ProcessEnd } from '../model-server/process.ts';
import type { ModelSource } from '../multi-model/model-table.ts';
import type { MetricsFormat } from '../observability/metrics-page.ts';
import type { MetricJson } from '../observability/open-metrics.ts';

/** From a worker. */
export type WorkerMessage =
  /** Its models can be called. */
  | { readonly kind: 'ready' }
  /** It ends because it cannot start. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string }
  /** Its metrics, as prom-client's `getMetricsAsJSON` returns them. */
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricJson[] }
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'metrics-page'; readonly id: number; readonly format: MetricsFormat }
  /** It takes connections. */
  | { readonly kind: 'accepts' }
  | { readonly kind: 'accepts-no-more' }
  /** The models of a multi-model endpoint that are loaded now. */
  | { readonly kind: 'models'; readonly models: readonly ModelSource[] }
  /** Asks which were loaded before this worker. */
  | { readonly kind: 'asks-models' }
  /** Whether it had a call at the model server that has just ended. */
  | { readonly kind: 'busy'; readonly id: number; readonly isBusy: boolean }
  /** A run of TensorFlow begins, and is over. Only once a worker has ended by a fault. */
  | { readonly kind: 'runs'; readonly id: number; readonly fingerprint: string }
  | { readonly kind: 'has-run'; readonly id: number }
  /** It has closed a connection. */
  | { readonly kind: 'closed'; readonly slot: number };

/** Runs of TensorFlow, by fingerprints of what they were asked. */
export interface RunVerdicts {
  /** At work when a worker ended by a fault: to be tried one at a time. */
  readonly suspects: readonly string[];
  /** At work at two such ends. */
  readonly refused: readonly string[];
}

/** From the primary. */
export type PrimaryMessage =
  /** With a handle: a connection, and where its state is noted. */
  | { readonly kind: 'connection'; readonly slot: number }
  /** The models that were loaded before this worker. */
  | { readonly kind: 'models'; readonly models: readonly ModelSource[] }
  /** A process of the model server has ended; asks whether the worker had a call there. */
  | { readonly kind: 'asks-busy'; readonly id: number; readonly instance: number }
  /** How it ended, and whether one worker alone had a call there. */
  | {
      readonly kind: 'ended';
      readonly instance: number;
      readonly end: ProcessEnd;
      readonly isSole: boolean;
    }
  /** Runs to try alone or to refuse; from now on it tells of its runs. */
  | { readonly kind: 'verdicts'; readonly verdicts: RunVerdicts }
  /** Asks for the worker's metrics. */
  | { readonly kind: 'metrics'; readonly id: number }
  /** The metrics of all processes, as text. */
  | { readonly kind: 'metrics-page'; readonly id: number; readonly text: string };

/** The environment variable that tells a worker to listen only once its models are loaded. */
export const LISTENS_WHEN_READY = 'WORKER_LISTENS_WHEN_READY';

/** The environment variable with the {@link RunVerdicts} for a worker that starts, in JSON. */
export const RUN_VERDICTS = 'WORKER_RUN_VERDICTS';

/** The environment variable that tells a worker on which port its connections come. */
export const HANDED_PORT = 'WORKER_HANDED_PORT';
