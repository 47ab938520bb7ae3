/** Compares an answer with the JSON of a golden file: the same fields everywhere, numbers within a tolerance. */

/** |value - golden| <= absolute + relative * |golden|. */
interface Nearness {
  readonly absolute: number;
  readonly relative: number;
}

/** Where an answer first differs from the golden one. */
interface JsonDifference {
  /** Below the path that was compared: `.score`, `[3]`, or empty. */
  readonly at: string;
  /** Undefined if the golden answer has nothing there. */
  readonly expected: unknown;
  /** Undefined if the answer has nothing there. */
  readonly got: unknown;
}

/** The first difference, depth first; undefined if there is none. */
export function jsonDifference(
  got: unknown,
  expected: unknown,
  near: Nearness,
  at = '',
): JsonDifference | undefined {
  if (isNumber(got) && typeof expected === 'number') {
    const { absolute, relative } = near;
    if (sameNumber(Number(got), expected)) return undefined;
    const isNear = Math.abs(Number(got) - expected) <= absolute + relative * Math.abs(expected);
    return isNear ? undefined : { at, expected, got };
  }
  if (!isObject(got) || !isObject(expected) || Array.isArray(got) !== Array.isArray(expected)) {
    return got === expected ? undefined : { at, expected, got };
  }
  const isList = Array.isArray(expected);
  for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const place = isList ? `${at}[${key}]` : `${at}.${key}`;
    const own = (value: object) =>
      Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    const found = jsonDifference(own(got), own(expected), near, place);
    if (found) return found;
  }
  return undefined;
}

/** Equal, where a difference is no number: both NaN, or the same infinity. */
export function sameNumber(one: number, other: number): boolean {
  return one === other || (Number.isNaN(one) && Number.isNaN(other));
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
