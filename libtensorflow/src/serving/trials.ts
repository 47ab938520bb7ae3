/**
 * Which outputs can be joined. Shapes promise rows, but rows may depend on each other (a matrix of all rows with all, a
 * sum over them, a sorted list). So the first batches run alone as well, callers get what was answered alone, and only
 * outputs that were the same when joined are joined from then on, in batches no larger than were tried: a larger one is
 * a trial itself. A small share of later batches is looked at again: an output may be rows for some numbers only.
 */
import { extended, type Reach, reaches } from './reach.ts';
import type { Likeness, Variety } from './same-rows.ts';

/** Batches, and rows in them, that must have been the same: two rows in order may be sorted ones by chance. */
const ENOUGH_BATCHES = 3;
const ENOUGH_ROWS = 16;

/** One batch in as many, for each of its requests, is looked at again: that costs as much as 1 to 2% of the runs. */
const LOOK_AGAIN = 64;
/** Of the first joined batches one in as many; then one in as many as were joined, until they are {@link LOOK_AGAIN}. */
const LOOK_SOON = 8;

/**
 * What to do with a batch: join it, join it and run its requests alone as well, or run them alone. `larger`: both as well,
 * but smaller batches could be joined.
 */
export type Verdict = 'joined' | 'larger' | 'both' | 'alone';

/** A batch that ran both ways. */
export interface Trial {
  readonly reach: Reach;
  readonly variety: Variety;
  /** By output. */
  readonly outputs: ReadonlyMap<string, Likeness>;
}

interface Count {
  readonly batches: number;
  readonly rows: number;
  readonly tried: readonly Reach[];
}

/** What is known of an output, by how much the rows of the batches differed. */
type Known = Readonly<Record<Variety, Count>>;

const NONE: Count = { batches: 0, rows: 0, tried: [] };
const NOTHING: Known = { alike: NONE, few: NONE, many: NONE };

/** What shows as much of a batch's outputs as the batch itself would, or more. */
const SHOWN_BY: Readonly<Record<Variety, readonly Variety[]>> = {
  alike: ['alike', 'few', 'many'],
  few: ['few', 'many'],
  many: ['many'],
};

const isEnough = ({ batches, rows }: Count) => batches >= ENOUGH_BATCHES && rows >= ENOUGH_ROWS;

/** What trials have shown, by signature and output. */
export class Trials {
  readonly #onAlone: (signature: string) => void;
  readonly #random: () => number;
  readonly #known = new Map<string, Map<string, Known | 'alone'>>();
  /** Batches that were joined, by signature. */
  readonly #joined = new Map<string, number>();

  /**
   * @param onAlone called for each output that turns out other when joined
   * @param random draws the joined batches that are looked at again: from 0 to below 1
   */
  constructor(onAlone: (signature: string) => void, random: () => number = Math.random) {
    this.#onAlone = onAlone;
    this.#random = random;
  }

  /** @param variety of the batch's rows; asked only where it matters */
  verdict(
    signature: string,
    outputs: readonly string[],
    reach: Reach,
    variety: () => Variety,
  ): Verdict {
    const knownOf = this.#known.get(signature);
    const known = outputs.map((name) => knownOf?.get(name) ?? NOTHING);
    if (known.includes('alone')) return 'alone';
    const all = known as readonly Known[];
    const isReached = ({ tried }: Count) => reaches(tried, reach);
    if (all.every(({ many }) => isEnough(many) && isReached(many))) return 'joined';
    const kinds = SHOWN_BY[variety()];
    const isShown = (is: (count: Count) => boolean) =>
      all.every((one) => kinds.some((kind) => is(one[kind])));
    if (!isShown(isEnough)) return 'both';
    return isShown(isReached) ? 'joined' : 'larger';
  }

  isAlone(signature: string, outputs: readonly string[]): boolean {
    const knownOf = this.#known.get(signature);
    return outputs.some((name) => knownOf?.get(name) === 'alone');
  }

  /**
   * Whether a batch that could be joined is to be looked at again.
   * @param requests that would run alone for it
   */
  looksAgain(signature: string, requests: number): boolean {
    const joined = this.#joined.get(signature) ?? 0;
    const most = LOOK_AGAIN * requests;
    this.#joined.set(signature, joined + 1);
    return this.#random() * Math.min(most, LOOK_SOON + joined) < 1;
  }

  note(signature: string, { reach, variety, outputs }: Trial): void {
    for (const [name, likeness] of outputs) {
      const known = this.#known.get(signature)?.get(name) ?? NOTHING;
      if (known === 'alone') continue;
      if (likeness === 'same') {
        const { batches, rows, tried } = known[variety];
        const grown = {
          batches: batches + 1,
          rows: rows + reach.rows,
          tried: extended(tried, reach),
        };
        this.#set(signature, name, { ...known, [variety]: grown });
      } else if (likeness === 'unclear') {
        // What was shown before is to be shown again.
        this.#set(signature, name, NOTHING);
      } else {
        this.#set(signature, name, 'alone');
        this.#onAlone(signature);
      }
    }
  }

  #set(signature: string, name: string, known: Known | 'alone'): void {
    const knownOf = this.#known.get(signature) ?? new Map<string, Known | 'alone'>();
    this.#known.set(signature, knownOf.set(name, known));
  }
}
