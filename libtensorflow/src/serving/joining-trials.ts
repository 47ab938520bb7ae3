/**
 * What is done to a request's rows, and whether its answers stay its own. Each way is shown by itself: a request that is
 * filled up with copies of its own row, or cut in parts, meets no row of another caller. A difference is one whichever way
 * showed it: rows that depend on each other are neither joined, nor filled up, nor cut.
 */
import { type Merged, total } from './merge-inputs.ts';
import type { Reach } from './reach.ts';
import type { Variety } from './same-rows.ts';
import { type Trial, Trials, type Verdict } from './trials.ts';

/** Requests in one batch, shorter inputs padded among them or not; rows that fill a batch up; a request in parts. */
export type Way = 'joined' | 'padded' | 'filled' | 'split';

/** Rows that run together, and in what ways. */
export interface Together {
  readonly ways: readonly Way[];
  /** Rows of each request or part, then of the filling where there is any. */
  readonly sizes: readonly number[];
}

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
  verdict(
    together: Together,
    signature: string,
    outputs: readonly string[],
    variety: () => Variety,
  ): Verdict {
    const verdicts = together.ways.map((way) =>
      this.#trials[way].verdict(signature, outputs, reachOf(together, way), variety),
    );
    return (['alone', 'both', 'larger'] as const).find((one) => verdicts.includes(one)) ?? 'joined';
  }

  /** Whether no rows run together so. */
  isAlone(way: Way, signature: string, outputs: readonly string[]): boolean {
    return this.#trials[way].isAlone(signature, outputs);
  }

  /** Whether a batch that could run so is to be looked at again. */
  looksAgain(way: Way, signature: string, requests: number): boolean {
    return this.#trials[way].looksAgain(signature, requests);
  }

  note(together: Together, signature: string, { variety, outputs }: Omit<Trial, 'reach'>): void {
    const other = new Map([...outputs].filter(([, likeness]) => likeness === 'other'));
    const rest = new Map([...outputs].filter(([name]) => !other.has(name)));
    const note = (way: Way, outputs: Trial['outputs']) =>
      this.#trials[way].note(signature, { reach: reachOf(together, way), variety, outputs });
    for (const way of together.ways) note(way, rest);
    const found: readonly Way[] = together.ways.includes('padded')
      ? ['padded']
      : ['joined', 'filled', 'split'];
    for (const way of found) note(way, other);
  }
}

/** Filling shows nothing of other callers' rows. */
function reachOf({ ways, sizes }: Together, way: Way): Reach {
  const own = ways.includes('filled') ? sizes.slice(0, -1) : sizes;
  const least = own.reduce((one, other) => Math.min(one, other));
  return { least, rows: total(way === 'filled' ? sizes : own) };
}
