/** What is to be estimated: a number of images, and the ways to answer them. */

/** Packing needs no GPU. */
export const PACKING_TYPE = 'ml.c5.xlarge';

/** The ways to do it; `packed` is a transform job over files of many images, which `batch pack` has made. */
export const WAYS = ['batch', 'packed', 'worker', 'endpoint', 'async'] as const;
export type Way = (typeof WAYS)[number];

/** How calls to S3 use a key of KMS: not at all, through the bucket's own key, or each object for itself. */
export const KEY_USES = ['none', 'bucket', 'object'] as const;
export type KeyUse = (typeof KEY_USES)[number];

/**
 * Bytes of a line of the log of an answered request (docs/monitoring.md shows one; ids of SageMaker are longer), and 26 that
 * CloudWatch counts for each event.
 * @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
 */
export const LOG_BYTES = 360;

/** What is to be done. */
export interface Workload {
  readonly images: number;
  /** Bytes of one image, and of the answer to it. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Seconds that one instance, fully loaded, needs for an image: 1 / its images a second. */
  readonly secondsPerImage: number;
  readonly instanceCount: number;
  /** Images in a packed file. */
  readonly imagesPerObject: number;
  /** Images a second that one {@link PACKING_TYPE} packs. */
  readonly packedPerSecond: number;
  /** Objects of one transform job, 0 for one job over all. */
  readonly objectsPerJob: number;
  /** Jobs at once of a sharded run, each with all its instances. */
  readonly concurrentJobs: number;
  /** Minutes that instances are paid for before the first image: start, image pull, model. */
  readonly startMinutes: number;
  /** Part of an endpoint's time in which it is busy, as its callers keep no queue. */
  readonly endpointUse: number;
  /** Part of the images that fail and are asked about once more, at the end, on one instance. */
  readonly failed: number;
  /** Months for which S3 keeps the answers, and the packed files. */
  readonly months: number;
  readonly kms: KeyUse;
  /** Bytes of the log of the container for each request, 0 if it logs none. */
  readonly logBytes: number;
  /** Whether the instances reach S3 through a NAT gateway. */
  readonly nat: boolean;
}
