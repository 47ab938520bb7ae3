/** What a sweep measures, and which of it to run with. */

/** How the runtime was started. */
export interface ServerSettings {
  /** Rows of a batch that TensorFlow Serving joins; 0 for none. */
  readonly maxBatchSize: number;
  /**
   * Threads that decode pictures: libuv's, which take single ones, and as many for the pictures of larger requests.
   * 0 for the defaults: 4, and one for each CPU.
   */
  readonly decodeThreads: number;
}

/** One measurement. */
export interface Point {
  /** `local`, the endpoint's name, or an instance type of SageMaker Inference Recommender. */
  readonly where: string;
  /** Undefined if it cannot be changed from here. */
  readonly server?: ServerSettings;
  /** Images in a request. */
  readonly batchSize: number;
  /** Requests in flight; undefined if SageMaker chose. */
  readonly concurrency?: number;
  readonly imagesPerSecond: number;
  /** Milliseconds of a request. */
  readonly p50: number;
  readonly p95?: number;
  /** Requests without an answer of 200. */
  readonly errors: number;
  readonly dollarsPerMillion?: number;
}

/** Throughput within this part of the best counts as the best. */
export const NEAR_BEST = 0.95;

/**
 * The point to run with: of those without errors and within the latency asked for, whose throughput is at least
 * 95% of the best, the one with the lowest P95; of equals, the fewest requests in flight.
 * @param maxLatencyMs maximum P95. Default: none.
 */
export function kneeOf(
  points: readonly Point[],
  maxLatencyMs = Number.POSITIVE_INFINITY,
): Point | undefined {
  const latency = ({ p95, p50 }: Point) => p95 ?? p50;
  const good = points.filter((point) => point.errors === 0 && latency(point) <= maxLatencyMs);
  const best = Math.max(...good.map(({ imagesPerSecond }) => imagesPerSecond));
  return good
    .filter(({ imagesPerSecond }) => imagesPerSecond >= NEAR_BEST * best)
    .sort((a, b) => latency(a) - latency(b) || (a.concurrency ?? 0) - (b.concurrency ?? 0))[0];
}

/** Whether the point has the most requests in flight that were tried with its settings: nothing is known of more. */
export function isHighestTried(point: Point, points: readonly Point[]): boolean {
  const setting = ({ where, server, batchSize }: Point) =>
    JSON.stringify([where, server, batchSize]);
  const tried = points.filter((other) => setting(other) === setting(point));
  const { concurrency } = point;
  return (
    concurrency !== undefined &&
    tried.every((other) => other.concurrency !== undefined && other.concurrency <= concurrency)
  );
}

/** The runtime's variables for these settings; those at their defaults are left out. */
export function variablesOf({ maxBatchSize, decodeThreads }: ServerSettings) {
  return {
    ...(maxBatchSize > 0 && {
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_MAX_BATCH_SIZE: String(maxBatchSize),
    }),
    ...(decodeThreads > 0 && {
      UV_THREADPOOL_SIZE: String(decodeThreads),
      SAGEMAKER_TFS_DECODE_THREADS: String(decodeThreads),
    }),
  };
}
