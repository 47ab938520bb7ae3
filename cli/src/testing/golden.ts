/** Answers compared with golden ones, numbers within a tolerance. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inspect, types } from 'node:util';
import { isNear, jsonText, parseJson } from '@sagemaker-tfs/tensors';
import { CommandError } from '../errors.ts';

/** How near numbers must be. */
export interface Tolerance {
  /** Share of the golden number, or of 1 if that is smaller. Default: 1e-5. */
  readonly tolerance?: number;
}

/** How a golden file is used. */
export interface GoldenOptions extends Tolerance {
  /** Writes the file anew. Default: true if the environment variable `UPDATE_GOLDENS` is set. */
  readonly update?: boolean;
}

const TOLERANCE = 1e-5;

/**
 * Where an answer first differs from the golden one, as `$.predictions[0].score is 0.2, not 0.9`; undefined if it
 * does not.
 */
export function closeTo(
  actual: unknown,
  golden: unknown,
  { tolerance = TOLERANCE }: Tolerance = {},
): string | undefined {
  return difference(actual, golden, '$', tolerance);
}

/**
 * Compares an answer with the JSON of a golden file. Where the file is not there, and not in CI, it is written.
 * @throws CommandError GOLDEN_DIFFERS that says where they differ first, FILE_NOT_FOUND if the file is missing in CI
 */
export function matchesGolden(file: string, actual: unknown, options: GoldenOptions = {}): void {
  const update = options.update ?? Boolean(process.env.UPDATE_GOLDENS);
  if (update || (!existsSync(file) && !process.env.CI)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${jsonText(actual, 2)}\n`);
    return;
  }
  if (!existsSync(file)) {
    throw new CommandError(
      'FILE_NOT_FOUND',
      `${file} is not there, and in CI none is written. Run with UPDATE_GOLDENS=1 on your machine and commit the file.`,
    );
  }
  const found = closeTo(plain(actual), parseJson(readFileSync(file)), options);
  if (!found) return;
  const message = `${file}: ${found}. If that is right, run with UPDATE_GOLDENS=1.`;
  throw new CommandError('GOLDEN_DIFFERS', message);
}

/** As it would be read from a file. */
function plain(value: unknown): unknown {
  return parseJson(jsonText(value));
}

function difference(
  actual: unknown,
  golden: unknown,
  path: string,
  tolerance: number,
): string | undefined {
  if (typeof actual === 'number' && typeof golden === 'number') {
    const near = { absolute: tolerance * Math.max(1, Math.abs(golden)), relative: 0 };
    return isNear(actual, golden, near) ? undefined : `${path} is ${actual}, not ${golden}`;
  }
  if (isObject(actual) && isObject(golden) && isSameKind(actual, golden)) {
    return partsDiffer(partsOf(actual), partsOf(golden), path, tolerance);
  }
  if (Object.is(actual, golden)) return undefined;
  return `${path} is ${shown(actual)}, not ${shown(golden)}`;
}

type Parts = Readonly<Record<string, unknown>>;

function partsDiffer(
  actual: Parts,
  golden: Parts,
  path: string,
  tolerance: number,
): string | undefined {
  const at = (key: string) => (Array.isArray(golden) ? `${path}[${key}]` : `${path}.${key}`);
  for (const key of new Set([...Object.keys(golden), ...Object.keys(actual)])) {
    if (!(key in actual)) return `${at(key)} is missing`;
    if (!(key in golden)) return `${at(key)} is new`;
    const found = difference(actual[key], golden[key], at(key), tolerance);
    if (found) return found;
  }
  return undefined;
}

/** Objects whose parts are not their fields. */
const KINDS = [types.isMap, types.isSet, types.isDate];

function isSameKind(actual: Parts, golden: Parts): boolean {
  return [Array.isArray, ...KINDS].every((isOne) => isOne(actual) === isOne(golden));
}

/** What is compared: a Map by its keys, a Set in its order, a Date by its time. */
function partsOf(value: Parts): Parts {
  if (types.isMap(value)) {
    return Object.fromEntries([...value].map(([key, part]) => [shown(key), part]));
  }
  if (types.isSet(value)) return { ...[...value] };
  return types.isDate(value) ? { time: value.getTime() } : value;
}

function shown(value: unknown): string {
  return KINDS.some((isOne) => isOne(value)) ? inspect(value) : jsonText(value);
}

function isObject(value: unknown): value is Parts {
  return typeof value === 'object' && value !== null;
}
