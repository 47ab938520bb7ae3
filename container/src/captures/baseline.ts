/** The baseline of a model's inputs and outputs, and what has drifted from it. */
import { TensorError } from '@sagemaker-tfs/tensors';
import * as z from 'zod';
import type { Capture, CapturedBody } from './capture.ts';
import { countedIn, distributionOf, distributionSchema, stabilityOf } from './distribution.ts';
import { isRead, type Value, valuesOf } from './values.ts';

const schema = z.strictObject({
  baselineVersion: z.literal(1),
  /** Captures or samples that it was made from. */
  records: z.int().min(0),
  /** By `input.NAME` and `output.NAME`. */
  features: z.record(z.string(), distributionSchema),
});

/** What `baseline` writes. */
export type Baseline = z.output<typeof schema>;

/** Values of one feature that are kept. */
const MAX_VALUES = 20_000;

/** Values by feature, out of many captures. */
export interface Gathered {
  readonly values: ReadonlyMap<string, readonly Value[]>;
  /** Captures that were read. */
  readonly records: number;
  /** Bodies that their media type does not describe. */
  readonly unreadable: number;
  /** Bodies whose values are not read, by media type: only their size is known. */
  readonly sizesOnly: Readonly<Record<string, number>>;
}

/** Reads captures one after another. */
export function gatherer(): { add(capture: Capture): void; gathered(): Gathered } {
  const values = new Map<string, Value[]>();
  const sizesOnly: Record<string, number> = {};
  let records = 0;
  let unreadable = 0;
  const addBody = (side: string, body: CapturedBody | undefined) => {
    if (!body) return;
    if (!isRead(body.contentType)) {
      const type = body.contentType || 'no media type';
      sizesOnly[type] = (sizesOnly[type] ?? 0) + 1;
    }
    const found = readable(body);
    if (!found) unreadable++;
    for (const [name, list] of found ?? []) addValues(values, `${side}.${name}`, list);
  };
  return {
    add({ input, output }) {
      records++;
      addBody('input', input);
      addBody('output', output);
    },
    gathered: () => ({ values, records, unreadable, sizesOnly }),
  };
}

function readable(body: CapturedBody) {
  try {
    return valuesOf(body);
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

function addValues(all: Map<string, Value[]>, name: string, list: readonly Value[]): void {
  const known = all.get(name) ?? [];
  for (const value of list) if (known.length < MAX_VALUES) known.push(value);
  all.set(name, known);
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
  readonly drifted: number;
  /** Features of the baseline without a value now, and ones that it does not know. */
  readonly gone: readonly string[];
  readonly unknown: readonly string[];
}

/** Compares what was gathered with a baseline. @param threshold of the population stability index */
export function driftOf(baseline: Baseline, now: Gathered, threshold: number): Drift {
  const known = Object.entries(baseline.features);
  const features = known.flatMap(([feature, before]): FeatureDrift[] => {
    const values = now.values.get(feature);
    if (!values?.length) return [];
    const { index, noise, count } = stabilityOf(before, countedIn(before, values));
    return [{ feature, index, noise, count, drifted: index >= threshold && index > noise }];
  });
  features.sort((a, b) => b.index - a.index);
  return {
    records: now.records,
    unreadable: now.unreadable,
    features,
    drifted: features.filter(({ drifted }) => drifted).length,
    gone: known.map(([name]) => name).filter((name) => !now.values.has(name)),
    unknown: [...now.values.keys()].filter((name) => !Object.hasOwn(baseline.features, name)),
  };
}
