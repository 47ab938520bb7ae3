/**
 * Which outputs can be joined. Shapes promise rows, but rows may depend on each other (a matrix of all rows with all, a
 * sum over them, a sorted list). So the first batches run alone as well, callers get what was answered alone, and only
 * outputs that were the same in company are joined from then on.
 */
import type { Likeness } from './same-rows.ts';

/** Batches, and rows in them, that must have been the same: two rows in order may be sorted ones by chance. */
const ENOUGH_BATCHES = 3;
const ENOUGH_ROWS = 16;

/** What to do with a batch: join it, join it and run its requests alone as well, or run them alone. */
export type Verdict = 'joined' | 'both' | 'alone';

/** A batch that ran both ways. */
export interface Trial {
  /** Of the batch, padding among them. */
  readonly rows: number;
  /** Whether its rows differ. */
  readonly varies: boolean;
  /** By output. */
  readonly outputs: ReadonlyMap<string, Likeness>;
}

interface Count {
  readonly batches: number;
  readonly rows: number;
}

/** What is known of an output. */
interface Known {
  /** Of batches whose rows differ, and of batches of one row over and over. */
  readonly varied: Count;
  readonly alike: Count;
}

const NONE: Count = { batches: 0, rows: 0 };
const NOTHING: Known = { varied: NONE, alike: NONE };

const isEnough = ({ batches, rows }: Count) => batches >= ENOUGH_BATCHES && rows >= ENOUGH_ROWS;

/** What trials have shown, by signature and output. */
export class Trials {
  readonly #onAlone: (signature: string) => void;
  readonly #known = new Map<string, Map<string, Known | 'alone'>>();

  /** @param onAlone called for each output that turns out other in company */
  constructor(onAlone: (signature: string) => void) {
    this.#onAlone = onAlone;
  }

  /** @param varies whether the batch's rows differ; asked only where it matters */
  verdict(signature: string, outputs: readonly string[], varies: () => boolean): Verdict {
    const knownOf = this.#known.get(signature);
    const known = outputs.map((name) => knownOf?.get(name) ?? NOTHING);
    if (known.includes('alone')) return 'alone';
    const all = known as readonly Known[];
    if (all.every(({ varied }) => isEnough(varied))) return 'joined';
    const isShown = all.every(({ varied, alike }) => isEnough(varied) || isEnough(alike));
    return isShown && !varies() ? 'joined' : 'both';
  }

  note(signature: string, { rows, varies, outputs }: Trial): void {
    const kind = varies ? 'varied' : 'alike';
    for (const [name, likeness] of outputs) {
      const known = this.#known.get(signature)?.get(name) ?? NOTHING;
      if (known === 'alone' || likeness === 'unclear') continue;
      if (likeness === 'same') {
        const { batches, rows: before } = known[kind];
        const grown = { batches: batches + 1, rows: before + rows };
        this.#set(signature, name, { ...known, [kind]: grown });
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
