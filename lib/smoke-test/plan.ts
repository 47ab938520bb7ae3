/** What the construct tells the function to check: one JSON text in the custom resource's properties. */
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';

/** Calls of each sample to each variant over each transport. */
export const DEFAULT_ITERATIONS = 100;

/** What every expectation may say about where to look. */
interface Located {
  /**
   * Where in the answer: `$.predictions[0].score`, `$["a key"]`, `$.boxes[-1]`.
   * @default '$', the whole answer
   */
  readonly path?: string;
}

/** The value is this; numbers within `tolerance`. */
export interface EqualsExpectation extends Located {
  readonly equals: unknown;
  /** @default 0 */
  readonly tolerance?: number;
}

/** The highest of an array of scores is at this index, and its score near `score`. */
export interface TopClassExpectation extends Located {
  readonly topClass: number;
  /** @default - any score */
  readonly score?: number;
  /**
   * How far the score may be from `score`.
   * @default 0.05
   */
  readonly tolerance?: number;
}

/** The value is a tensor, or nested lists, of this shape. */
export interface ShapeExpectation extends Located {
  /** -1 for any size. */
  readonly shape: readonly number[];
  /**
   * TensorFlow's name, for `.npy` answers; JSON has no dtypes, there only numbers, strings and
   * booleans differ.
   * @default - any
   */
  readonly dtype?: string;
}

/**
 * The value equals the tensor in a `.npy` file, or the JSON in a `.json` file, with the same fields everywhere.
 * Numbers: |value - golden| <= absolute + relative * |golden|.
 */
export interface GoldenExpectation extends Located {
  /** Path of the file, whose name ends in `.npy` or `.json`. */
  readonly golden: string;
  /** @default 0.00001 */
  readonly absolute?: number;
  /** @default 0.001 */
  readonly relative?: number;
}

/** What an answer must be. */
export type Expectation =
  | EqualsExpectation
  | TopClassExpectation
  | ShapeExpectation
  | GoldenExpectation;

/** Latencies that a sample may not exceed, milliseconds, seen by the function. */
export interface LatencyLimits {
  /**
   * Mean.
   * @default - no limit
   */
  readonly meanMs?: number;
  /**
   * Median.
   * @default - no limit
   */
  readonly p50Ms?: number;
  /**
   * 90th percentile.
   * @default - no limit
   */
  readonly p90Ms?: number;
  /**
   * 95th percentile.
   * @default - no limit
   */
  readonly p95Ms?: number;
  /**
   * The first call.
   * @default - no limit
   */
  readonly coldMs?: number;
}

/** A request of the smoke test. */
export interface SmokeTestSample {
  /** Names it in messages, logs and metrics. */
  readonly name: string;
  /** File with the request's body. */
  readonly file: string;
  /** Media type of the body. */
  readonly contentType: string;
  /**
   * Media type of the answer.
   * @default - the runtime's: application/json
   */
  readonly accept?: string;
  /**
   * More custom attributes of the request, `tfs-model-name=flowers`.
   * @default - none
   */
  readonly customAttributes?: string;
  /**
   * Model of a multi-model endpoint.
   * @default - none
   */
  readonly targetModel?: string;
  /**
   * Inference component that is asked, by its name in the endpoint's props.
   * @default - each, of an endpoint of components
   */
  readonly component?: string;
  /**
   * What the answer must be.
   * @default - a status of 200 is enough
   */
  readonly expect?: readonly Expectation[];
  /**
   * Latencies that the sample may not exceed.
   * @default - none
   */
  readonly limits?: LatencyLimits;
}

/** A production variant or an inference component, which requests name so that it answers. */
export interface SmokeTestVariant {
  readonly name: string;
  /** SageMaker's name of an inference component; absent: a variant. */
  readonly componentName?: string;
  /** First 16 hex digits of the packaged model's fingerprint; absent: not compared. */
  readonly fingerprint?: string;
  readonly transports: readonly Transport[];
  /** US dollars of one second of one instance, or of one serverless worker; absent: price not known. */
  readonly usdPerSecond?: number;
}

/** Everything that the function needs; file names are those inside the function's layer. */
export interface SmokeTestPlan {
  readonly endpointName: string;
  /** The configuration that was just deployed. */
  readonly endpointConfigName: string;
  /** Logical id of the endpoint, of the check that comes first after it. */
  readonly endpointId?: string;
  readonly variants: readonly SmokeTestVariant[];
  /** Calls of each sample to each variant over each transport, after a first one that is timed apart. */
  readonly iterations: number;
  readonly samples: readonly SmokeTestSample[];
  /** `s3://BUCKET/PREFIX/` that an asynchronous endpoint reads; absent: the endpoint answers at once. */
  readonly asyncInputUri?: string;
  /** CloudWatch namespace of the results. */
  readonly metricNamespace: string;
}
