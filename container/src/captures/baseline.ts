/** The baseline of a model's inputs and outputs, and what has drifted from it. */
import { TensorError } from '@sagemaker-tfs/tensors';
import * as z from 'zod';
import type { Capture, CapturedBody } from './capture.ts';
import { countedIn, distributionOf, distributionSchema, stabilityOf } from './distribution.ts';
import { FeatureStore } from './feature-values.ts';
import { isRead, type Value, valuesOf } from './values.ts';

const schema = z.strictObject({
  baselineVersion: z.literal(1),
  /** Captures or samples that it was made from. */
  records: z.int().min(0),
  /** By `input.NAME` and `output.NAME`. Without any nothing could be compared. */
  features: z
    .record(z.string(), distributionSchema)
    .refine((all) => Object.keys(all).length > 0, 'no features'),
});

/** What `baseline` writes. */
export type Baseline = z.output<typeof schema>;

/** Media types whose values are not read that are named, and the characters of a name. */
const MAX_TYPES = 20;
const MAX_TYPE = 100;

/** Values by feature, out of many captures. */
export interface Gathered {
  readonly values: ReadonlyMap<string, readonly Value[]>;
  /** Features that the baseline lacks, at most 100, if there is a baseline. */
  readonly unknown: readonly string[];
  /** Values of features beyond those: of a body with more than 1,024, or of the rarest ones. */
  readonly leftOut: number;
  /** Captures that were read. */
  readonly records: number;
  /** Bodies that their media type does not describe. */
  readonly unreadable: number;
  /** Bodies whose values are not read, by media type: only their size is known. */
  readonly sizesOnly: ReadonlyMap<string, number>;
}

/**
 * Reads captures one after another, in memory that does not grow with what callers send.
 * @param baseline whose features are read; default: the 2,048 most common ones are
 */
export function gatherer(baseline?: Baseline): {
  add(capture: Capture): void;
  gathered(): Gathered;
} {
  const features = new FeatureStore(baseline && Object.keys(baseline.features));
  const sizesOnly = new Map<string, number>();
  let records = 0;
  let unreadable = 0;
  const addBody = (side: string, body: CapturedBody | undefined) => {
    if (!body) return;
    if (!isRead(body.contentType)) countType(sizesOnly, body.contentType);
    const found = readable(body, () => features.leaveOut(1));
    if (!found) unreadable++;
    for (const [name, list] of found ?? []) features.add(`${side}.${name}`, list);
  };
  return {
    add({ input, output }) {
      records++;
      addBody('input', input);
      addBody('output', output);
    },
    gathered() {
      return { ...features.gathered(), records, unreadable, sizesOnly };
    },
  };
}

function countType(counts: Map<string, number>, contentType: string): void {
  const name = contentType.slice(0, MAX_TYPE) || 'no media type';
  const type = counts.has(name) || counts.size < MAX_TYPES ? name : 'other media types';
  counts.set(type, (counts.get(type) ?? 0) + 1);
}

function readable(body: CapturedBody, leaveOut: () => void) {
  try {
    return valuesOf(body, leaveOut);
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

/** The baseline of what was gathered. */
export function baselineOf({ values, records }: Gathered): Baseline {
  const features = [...values].map(([name, list]) => [name, distributionOf(list)] as const);
  return { baselineVersion: 1, records, features: Object.fromEntries(features) };
}

/** Reads what {@link baselineOf} wrote as JSON. @throws TensorError MALFORMED */
export function parseBaseline(text: string): Baseline {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new TensorError('MALFORMED', 'the text is no baseline.', { cause });
  }
}

/** One feature now. */
export interface FeatureDrift {
  readonly feature: string;
  readonly index: number;
  readonly noise: number;
  readonly count: number;
  /** The index is at least the threshold, and more than chance. */
  readonly drifted: boolean;
}

/** What has changed. */
export interface Drift {
  readonly records: number;
  readonly unreadable: number;
  /** Greatest index first. */
  readonly features: readonly FeatureDrift[];
  /** Features that have drifted or are gone: with any, inputs and outputs are no longer those of the baseline. */
  readonly drifted: number;
  /** Features of the baseline without a value now. */
  readonly gone: readonly string[];
  /** Features that the baseline does not know, at most 100. */
  readonly unknown: readonly string[];
  /** Values of more features that it does not know. */
  readonly leftOut: number;
}

/** Compares what was gathered for a baseline with it. @param threshold of the population stability index */
export function driftOf(baseline: Baseline, now: Gathered, threshold: number): Drift {
  const known = Object.entries(baseline.features);
  const features = known.flatMap(([feature, before]): FeatureDrift[] => {
    const values = now.values.get(feature);
    if (!values?.length) return [];
    const { index, noise, count } = stabilityOf(before, countedIn(before, values));
    return [{ feature, index, noise, count, drifted: index >= threshold && index > noise }];
  });
  features.sort((a, b) => b.index - a.index);
  const gone = known.map(([name]) => name).filter((name) => !now.values.has(name));
  return {
    records: now.records,
    unreadable: now.unreadable,
    features,
    drifted: features.filter(({ drifted }) => drifted).length + gone.length,
    gone,
    unknown: now.unknown,
    leftOut: now.leftOut,
  };
}
