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
  /** Pairs that disagree, by the first place where they do; of places beyond 100 together. */
  readonly disagreements: Readonly<Record<string, number>>;
  /** Requests of the first pairs that disagree, by id. */
  readonly examples: readonly string[];
  /** Captures of the first variant that were not looked at: all the answers before have 1 GiB. */
  readonly leftOut: number;
}

const EXAMPLES = 10;
/** Characters of an id. */
const MAX_ID = 128;
/** Bytes of the answers that are held at once. */
const MAX_BYTES = 1024 ** 3;
/** Places where answers disagree: names are what callers send. */
const MAX_PLACES = 100;
const OTHERS = 'other places';

/** What is held of a capture: not its input. */
type Answer = Pick<Capture, 'output'>;

/** Captures of one body: an endpoint may get the same one a hundred thousand times. */
interface SameBody {
  readonly captures: Answer[];
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
  maxBytes = MAX_BYTES,
): Promise<VariantComparison> {
  const byId = new Map<string, Answer>();
  const byBody = new Map<string, SameBody>();
  let [first, bytes, leftOut] = [0, 0, 0];
  for await (const capture of production) {
    first++;
    bytes += capture.output?.bytes.byteLength ?? 0;
    if (bytes > maxBytes) {
      leftOut++;
      continue;
    }
    const answer = { output: capture.output };
    if (capture.id !== undefined) byId.set(capture.id, answer);
    const digest = digestOf(capture.input);
    if (digest === undefined) continue;
    const same = byBody.get(digest) ?? { captures: [], next: 0 };
    same.captures.push(answer);
    byBody.set(digest, same);
  }
  const places = new Map<string, number>();
  const examples: string[] = [];
  const used = new Set<Answer>();
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
      const place = places.has(where) || places.size < MAX_PLACES ? where : OTHERS;
      places.set(place, (places.get(place) ?? 0) + 1);
      if (examples.length < EXAMPLES) examples.push(nameOf(capture));
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
    leftOut,
  };
}

function nameOf({ id, input }: Capture): string {
  return id?.slice(0, MAX_ID) ?? digestOf(input) ?? '';
}

function partnerOf(
  { id, input }: Capture,
  byId: ReadonlyMap<string, Answer>,
  byBody: ReadonlyMap<string, SameBody>,
  used: ReadonlySet<Answer>,
): Answer | undefined {
  const named = id === undefined ? undefined : byId.get(id);
  if (named && !used.has(named)) return named;
  const digest = digestOf(input);
  const same = digest === undefined ? undefined : byBody.get(digest);
  if (!same) return undefined;
  while (used.has(same.captures[same.next] as Answer)) same.next++;
  return same.captures[same.next];
}

function digestOf(body: CapturedBody | undefined): string | undefined {
  if (!body) return undefined;
  return createHash('sha256').update(`${body.contentType}\n`).update(body.bytes).digest('hex');
}
