/** Compares what two variants answered to the same requests. */
import { createHash } from 'node:crypto';
import {
  type Capture,
  type CapturedBody,
  differenceOf,
  type Tolerance,
} from '@sagemaker-tfs/container/captures';
import { type Share, shareOf } from './share.ts';

/** What was found. */
export interface VariantComparison {
  /** Captures of each variant. */
  readonly production: number;
  readonly shadow: number;
  /** Pairs of answers to one request. */
  readonly pairs: number;
  /** Pairs that agree within the tolerance, with a 95% interval. */
  readonly agreement: Share;
  /** Greatest finite difference of two numbers of pairs whose values were read. */
  readonly largestDifference: number;
  /** Pairs that disagree, by the first place where they do. */
  readonly disagreements: Readonly<Record<string, number>>;
  /** Requests of the first pairs that disagree, by id. */
  readonly examples: readonly string[];
}

const EXAMPLES = 10;

/** Captures of one body: an endpoint may get the same one a hundred thousand times. */
interface SameBody {
  readonly captures: Capture[];
  /** All before it have a partner. */
  next: number;
}

/**
 * Joins captures by SageMaker's id of the request; where the variants have no id in common, by the request's body, each
 * capture once.
 */
export async function compareVariants(
  production: AsyncIterable<Capture>,
  shadow: AsyncIterable<Capture>,
  tolerance: Tolerance,
): Promise<VariantComparison> {
  const byId = new Map<string, Capture>();
  const byBody = new Map<string, SameBody>();
  let first = 0;
  for await (const capture of production) {
    first++;
    if (capture.id !== undefined) byId.set(capture.id, capture);
    const digest = digestOf(capture.input);
    if (digest === undefined) continue;
    const same = byBody.get(digest) ?? { captures: [], next: 0 };
    same.captures.push(capture);
    byBody.set(digest, same);
  }
  const places = new Map<string, number>();
  const examples: string[] = [];
  const used = new Set<Capture>();
  let [second, pairs, agreeing, largest] = [0, 0, 0, 0];
  for await (const capture of shadow) {
    second++;
    const same = partnerOf(capture, byId, byBody, used);
    if (!same?.output || !capture.output) continue;
    used.add(same);
    pairs++;
    const {
      agrees,
      largest: apart,
      where = 'body',
    } = differenceOf(same.output, capture.output, tolerance);
    largest = Math.max(largest, apart);
    if (agrees) agreeing++;
    else {
      places.set(where, (places.get(where) ?? 0) + 1);
      if (examples.length < EXAMPLES) examples.push(capture.id ?? digestOf(capture.input) ?? '');
    }
  }
  return {
    production: first,
    shadow: second,
    pairs,
    agreement: shareOf(agreeing, pairs),
    largestDifference: largest,
    disagreements: Object.fromEntries([...places].sort(([, a], [, b]) => b - a)),
    examples,
  };
}

function partnerOf(
  { id, input }: Capture,
  byId: ReadonlyMap<string, Capture>,
  byBody: ReadonlyMap<string, SameBody>,
  used: ReadonlySet<Capture>,
): Capture | undefined {
  const named = id === undefined ? undefined : byId.get(id);
  if (named && !used.has(named)) return named;
  const digest = digestOf(input);
  const same = digest === undefined ? undefined : byBody.get(digest);
  if (!same) return undefined;
  while (used.has(same.captures[same.next] as Capture)) same.next++;
  return same.captures[same.next];
}

function digestOf(body: CapturedBody | undefined): string | undefined {
  if (!body) return undefined;
  return createHash('sha256').update(`${body.contentType}\n`).update(body.bytes).digest('hex');
}
