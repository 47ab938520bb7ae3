/** Values by feature in bounded memory: names and values are the callers' of an endpoint. */
import type { Value } from './values.ts';

/** Features that are kept: as many as one request and its answer have. */
const MAX_FEATURES = 2048;
/** Values of one feature that are kept, and of all. */
const MAX_VALUES = 20_000;
const MAX_VALUES_OF_ALL = 2_000_000;
/** Features beside the known ones that are named. */
const MAX_UNKNOWN = 100;

/** One feature. */
interface Seen {
  readonly kept: Value[];
  /** Bodies with it. */
  bodies: number;
  /** Values, with those that were not kept. */
  count: number;
  /** Of the generator below. */
  state: number;
}

/** What was gathered. */
interface FeatureValues {
  readonly values: ReadonlyMap<string, readonly Value[]>;
  /** Features beside the known ones, the most common 100 first. */
  readonly unknown: readonly string[];
  /** Values of all other features. */
  readonly leftOut: number;
}

/**
 * Gathers values by feature. Of features without end the most common stay, so that nobody's odd requests push out those of all
 * others.
 */
export class FeatureStore {
  readonly #known = new Map<string, Seen>();
  readonly #others = new Map<string, Seen>();
  readonly #keepsOthers: boolean;
  #limit = MAX_VALUES;
  #kept = 0;
  #leftOut = 0;

  /** @param known features whose values are kept; default: those of the most common ones are */
  constructor(known?: readonly string[]) {
    for (const name of known ?? []) this.#known.set(name, unseen());
    this.#keepsOthers = known === undefined;
  }

  /** Adds the values that a feature has in one body. */
  add(name: string, values: readonly Value[]): void {
    const known = this.#known.get(name);
    const seen = known ?? this.#others.get(name) ?? unseen();
    seen.bodies++;
    if (known || this.#keepsOthers) this.#keep(seen, values);
    else seen.count += values.length;
    if (known) return;
    this.#others.set(name, seen);
    // Seldom, so that a new feature has time to come again.
    if (this.#others.size > 2 * MAX_FEATURES) this.#keepCommon(MAX_FEATURES);
  }

  /** Values of features that are not looked at. */
  leaveOut(count: number): void {
    this.#leftOut += count;
  }

  gathered(): FeatureValues {
    this.#keepCommon(this.#keepsOthers ? MAX_FEATURES : MAX_UNKNOWN);
    const looked = this.#keepsOthers ? this.#others : this.#known;
    const seen = [...looked].filter(([, { count }]) => count > 0);
    return {
      values: new Map(seen.map(([name, { kept }]) => [name, kept])),
      unknown: this.#keepsOthers ? [] : byBodies(this.#others).map(([name]) => name),
      leftOut: this.#leftOut,
    };
  }

  /** Beyond the limit a value replaces another, ever more seldom, so that early and late ones stay alike. */
  #keep(seen: Seen, values: readonly Value[]): void {
    const { kept } = seen;
    for (const value of values) {
      seen.count++;
      // Chance that is the same each time: the linear congruential generator of "Numerical Recipes".
      seen.state = (Math.imul(seen.state, 1_664_525) + 1_013_904_223) >>> 0;
      const place = Math.floor((seen.state / 2 ** 32) * seen.count);
      if (kept.length < this.#limit) {
        // In no order, so that the first ones of fewer are such a choice as well.
        kept.push(kept[place] ?? value);
        kept[place] = value;
        this.#kept++;
      } else if (place < this.#limit) kept[place] = value;
    }
    if (this.#kept > MAX_VALUES_OF_ALL) this.#lowerLimit();
  }

  #lowerLimit(): void {
    const all = [...this.#known.values(), ...this.#others.values()];
    while (this.#kept > MAX_VALUES_OF_ALL && this.#limit > 1) {
      this.#limit = Math.ceil(this.#limit / 2);
      this.#kept = 0;
      for (const { kept } of all) {
        if (kept.length > this.#limit) kept.length = this.#limit;
        this.#kept += kept.length;
      }
    }
  }

  #keepCommon(count: number): void {
    if (this.#others.size <= count) return;
    for (const [name, { count: values, kept }] of byBodies(this.#others).slice(count)) {
      this.#others.delete(name);
      this.#kept -= kept.length;
      this.#leftOut += values;
    }
  }
}

/** The most common first. */
function byBodies(features: ReadonlyMap<string, Seen>): [string, Seen][] {
  return [...features].sort(([, a], [, b]) => b.bodies - a.bodies);
}

function unseen(): Seen {
  return { kept: [], bodies: 0, count: 0, state: 1 };
}
