/** Compares an answer with the JSON of a golden file: the same fields everywhere, numbers within a tolerance. */
import { isNear, type Nearness } from '@sagemaker-tfs/tensors';

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
    return isNear(Number(got), expected, near) ? undefined : { at, expected, got };
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

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
