/** What the model takes as given because it cannot be measured without an account and its GPUs. Edit here. */

/** The job: the satellite tiles of the batch paper. */
export const TILES = 120_000_000;
export const INSTANCE_TYPE = 'ml.p3.2xlarge';
export const INSTANCE_COUNTS = [2, 10, 50] as const;

/** The instance: 8 vCPUs and one V100 (https://aws.amazon.com/ec2/instance-types/p3/). */
export const VCPUS = 8;
/** Gigabits a second of its network ("up to 10"); half of it as what lasts. */
export const NETWORK_GBIT = 5;

/** One GPU, where no measured times are given: milliseconds that a batch takes, fixed and for each image (about 1,000 images/s, ResNet-50 class). */
export const GPU = { batchMs: 3, imageMs: 0.9, maxBatch: 64 } as const;

/** Requests that SageMaker's agent keeps open to each instance (the paper's tuned value). */
export const MAX_CONCURRENT_TRANSFORMS = 64;

/** S3's request rates for one partitioned prefix (S3 User Guide, "Best practices design patterns"). */
export const S3_RATE = { get: 5_500, put: 3_500 } as const;
/** First-byte latency of small objects, milliseconds: median and spread of a log-normal (same guide: 100-200 ms at worst). */
export const S3_LATENCY = { getMs: 30, putMs: 50, sigma: 0.5 } as const;
/** Bytes of the answer to one tile. */
export const OUTPUT_BYTES = 500;
/** Minutes paid before the first tile: instances, image, model. */
export const START_MINUTES = 8;

/** How unlike each other things are in a replayed run, as sigmas of log-normals: starts, instances of one type, pieces of work. */
export const SPREAD = { start: 0.3, instance: 0.03, piece: 0.1 } as const;
/** Hours after which a spot instance is taken back, mean: far less than AWS's own advisor shows for most types. */
export const SPOT_LIFE_HOURS = 12;
/** Price of a spot instance, as a part of the full one. */
export const SPOT_PRICE = 0.4;
/** Images of a shard, and shards at once, of the sharded run that is replayed. */
export const REPLAYED_SHARDS = { images: 2_000_000, atOnce: 2 } as const;

/** What the batch paper reports of two such instances; the model is held against it. */
export const PAPER_MILLIONS_AN_HOUR = 1.6;
