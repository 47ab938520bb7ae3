/**
 * What is done to a request's rows, and whether its answers stay its own. Each way is shown by itself: a request that is
 * filled up with copies of its own row, or cut in parts, meets no row of another caller. A difference is one whichever way
 * showed it: rows that depend on each other are neither joined, nor filled up, nor cut.
 */
import { type Merged, total } from './merge-inputs.ts';
import { type Trial, Trials, type Verdict } from './trials.ts';

/** Requests in one batch, shorter inputs padded among them or not; rows that fill a batch up; a request in parts. */
export type Way = 'joined' | 'padded' | 'filled' | 'split';

/** What is done to the rows of a batch of some requests. */
export function waysOf({
  requests,
  padding,
  isPadded,
}: Pick<Merged, 'padding' | 'isPadded'> & { readonly requests: number }): readonly Way[] {
  const together = isPadded ? (['padded'] as const) : (['joined'] as const);
  return [...(requests > 1 ? together : []), ...(padding > 0 ? (['filled'] as const) : [])];
}

/** The trials of each way. */
export class JoiningTrials {
  readonly #trials: Readonly<Record<Way, Trials>>;

  /** @param onAlone called for each output that turns out other, which `padded` alone tells from the other ways */
  constructor(
    onAlone: (signature: string, why: 'joined' | 'padded') => void,
    random?: () => number,
  ) {
    const silent = () => undefined;
    this.#trials = {
      joined: new Trials((signature) => onAlone(signature, 'joined'), random),
      padded: new Trials((signature) => onAlone(signature, 'padded'), random),
      filled: new Trials(silent, random),
      split: new Trials(silent, random),
    };
  }

  /** Of what is shown least. */
  verdict(ways: readonly Way[], ...asked: Parameters<Trials['verdict']>): Verdict {
    const verdicts = ways.map((way) => this.#trials[way].verdict(...asked));
    return (['alone', 'both'] as const).find((one) => verdicts.includes(one)) ?? 'joined';
  }

  /** Whether a batch that could run so is to be looked at again. */
  looksAgain(way: Way, signature: string, requests: number): boolean {
    return this.#trials[way].looksAgain(signature, requests);
  }

  /** @param sizes rows of each request, then of the filling where there is any */
  note(
    ways: readonly Way[],
    signature: string,
    { variety, outputs }: Omit<Trial, 'rows'>,
    sizes: readonly number[],
  ): void {
    const other = new Map([...outputs].filter(([, likeness]) => likeness === 'other'));
    const rest = new Map([...outputs].filter(([name]) => !other.has(name)));
    const own = ways.includes('filled') ? sizes.slice(0, -1) : sizes;
    for (const way of ways) {
      // Filling shows nothing of other callers' rows.
      const rows = total(way === 'filled' ? sizes : own);
      this.#trials[way].note(signature, { rows, variety, outputs: rest });
    }
    const found: readonly Way[] = ways.includes('padded')
      ? ['padded']
      : ['joined', 'filled', 'split'];
    for (const way of found) {
      this.#trials[way].note(signature, { rows: total(sizes), variety, outputs: other });
    }
  }
}
