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

/** Values of one feature. */
interface Seen {
  readonly kept: Value[];
  /** With those that were not kept. */
  count: number;
  /** Of the generator below. */
  state: number;
}

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
  const seen = new Map<string, Seen>();
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
    for (const [name, list] of found ?? []) addValues(seen, `${side}.${name}`, list);
  };
  return {
    add({ input, output }) {
      records++;
      addBody('input', input);
      addBody('output', output);
    },
    gathered() {
      const values = new Map([...seen].map(([name, { kept }]) => [name, kept]));
      return { values, records, unreadable, sizesOnly };
    },
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

/** Beyond the limit a value replaces another, ever more seldom, so that early and late ones stay alike. */
function addValues(all: Map<string, Seen>, name: string, list: readonly Value[]): void {
  const seen = all.get(name) ?? { kept: [], count: 0, state: 1 };
  for (const value of list) {
    seen.count++;
    // Chance that is the same each time: the linear congruential generator of "Numerical Recipes".
    seen.state = (Math.imul(seen.state, 1_664_525) + 1_013_904_223) >>> 0;
    const place = Math.floor((seen.state / 2 ** 32) * seen.count);
    if (seen.kept.length < MAX_VALUES) seen.kept.push(value);
    else if (place < MAX_VALUES) seen.kept[place] = value;
  }
  all.set(name, seen);
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
