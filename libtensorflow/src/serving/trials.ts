/**
 * Which outputs can be joined. Shapes promise rows, but rows may depend on each other (a matrix of all rows with all, a
 * sum over them, a sorted list). So the first batches run alone as well, callers get what was answered alone, and only
 * outputs that were the same when joined are joined from then on. A small share of later batches is looked at again: an
 * output may be rows for some numbers only.
 */
import type { Likeness, Variety } from './same-rows.ts';

/** Batches, and rows in them, that must have been the same: two rows in order may be sorted ones by chance. */
const ENOUGH_BATCHES = 3;
const ENOUGH_ROWS = 16;

/** One batch in as many, for each of its requests, is looked at again: that costs as much as 1 to 2% of the runs. */
const LOOK_AGAIN = 64;
/** Of the first joined batches one in as many; then one in as many as were joined, until they are {@link LOOK_AGAIN}. */
const LOOK_SOON = 8;

/** What to do with a batch: join it, join it and run its requests alone as well, or run them alone. */
export type Verdict = 'joined' | 'both' | 'alone';

/** A batch that ran both ways. */
export interface Trial {
  /** Of the batch, padding among them. */
  readonly rows: number;
  readonly variety: Variety;
  /** By output. */
  readonly outputs: ReadonlyMap<string, Likeness>;
}

interface Count {
  readonly batches: number;
  readonly rows: number;
}

/** What is known of an output, by how much the rows of the batches differed. */
type Known = Readonly<Record<Variety, Count>>;

const NONE: Count = { batches: 0, rows: 0 };
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
  verdict(signature: string, outputs: readonly string[], variety: () => Variety): Verdict {
    const knownOf = this.#known.get(signature);
    const known = outputs.map((name) => knownOf?.get(name) ?? NOTHING);
    if (known.includes('alone')) return 'alone';
    const all = known as readonly Known[];
    if (all.every(({ many }) => isEnough(many))) return 'joined';
    const kinds = SHOWN_BY[variety()];
    return all.every((one) => kinds.some((kind) => isEnough(one[kind]))) ? 'joined' : 'both';
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

  note(signature: string, { rows, variety, outputs }: Trial): void {
    for (const [name, likeness] of outputs) {
      const known = this.#known.get(signature)?.get(name) ?? NOTHING;
      if (known === 'alone') continue;
      if (likeness === 'same') {
        const { batches, rows: before } = known[variety];
        const grown = { batches: batches + 1, rows: before + rows };
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
