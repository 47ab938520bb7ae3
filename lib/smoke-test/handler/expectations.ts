/** Compares an answer with what was expected. Each check returns undefined, or what was expected and what came. */
import {
  decodeNpy,
  isNear,
  jsonText,
  type NumericTensor,
  parseJson,
  type Tensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { ConstructError } from '../../errors.ts';
import type {
  EqualsExpectation,
  Expectation,
  GoldenExpectation,
  ShapeExpectation,
  TopClassExpectation,
} from '../plan.ts';
import { jsonDifference } from './golden-json.ts';
import { valueAt } from './json-path.ts';
import { type Answer, nested } from './reply.ts';

/** Where an answer differs. */
export interface Difference {
  /** Which check. */
  readonly check: string;
  readonly expected: string;
  readonly got: string;
}

/** Whether a golden file is JSON, by its name; others are tensors. */
export function isJsonFile(name: string): boolean {
  return name.toLowerCase().endsWith('.json');
}

/** Reads a file of the plan. */
export type ReadFile = (name: string) => Uint8Array;

/** Longest value that a message shows, characters. */
const SHOWN = 200;

/** The first difference between an answer and an expectation. */
export function checkExpectation(
  answer: Answer,
  expectation: Expectation,
  readFile: ReadFile,
): Difference | undefined {
  const path = expectation.path ?? '$';
  if ('shape' in expectation) return checkShape(answer, path, expectation);
  const value = valueAt(nested(answer), path);
  if ('equals' in expectation) return checkEquals(value, path, expectation);
  if ('topClass' in expectation) return checkTopClass(value, path, expectation);
  return checkGolden(value, path, expectation, readFile);
}

function checkEquals(
  value: unknown,
  path: string,
  { equals, tolerance = 0 }: EqualsExpectation,
): Difference | undefined {
  if (sameValue(value, equals, tolerance)) return undefined;
  const within = tolerance > 0 ? ` within ${tolerance}` : '';
  return { check: `value at ${path}`, expected: `${show(equals)}${within}`, got: show(value) };
}

function sameValue(value: unknown, expected: unknown, tolerance: number): boolean {
  if (typeof expected === 'number' && (typeof value === 'number' || typeof value === 'bigint')) {
    const number = Number(value);
    return isNear(number, expected, { absolute: tolerance, relative: 0 });
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((item, i) => sameValue(value[i], item, tolerance))
    );
  }
  if (typeof expected === 'object' && expected !== null) {
    return (
      typeof value === 'object' &&
      value !== null &&
      Object.entries(expected).every(([key, item]) =>
        sameValue(Reflect.get(value, key), item, tolerance),
      )
    );
  }
  return value === expected;
}

function checkTopClass(
  value: unknown,
  path: string,
  { topClass, score, tolerance = 0.05 }: TopClassExpectation,
): Difference | undefined {
  const check = `class at ${path}`;
  const scores = flatten(value);
  if (!scores || scores.length === 0) {
    return { check, expected: 'a list of scores', got: show(value) };
  }
  const top = scores.reduce((best, item, i) => (item > (scores[best] ?? 0) ? i : best), 0);
  const got = `class ${top} with score ${scores[top]}`;
  if (top !== topClass) return { check, expected: `class ${topClass}`, got };
  if (score === undefined || Math.abs((scores[top] ?? 0) - score) <= tolerance) return undefined;
  return { check, expected: `class ${topClass} with score ${score} within ${tolerance}`, got };
}

function checkShape(
  answer: Answer,
  path: string,
  { shape, dtype }: ShapeExpectation,
): Difference | undefined {
  const tensor = answer.kind === 'tensor' && path === '$' ? answer.tensor : undefined;
  const value = tensor ? undefined : valueAt(nested(answer), path);
  const gotShape = tensor?.shape ?? shapeOf(value);
  const gotDtype = tensor?.dtype ?? kindOf(value);
  const wanted = tensor ? dtype : dtype && jsonKind(dtype);
  const fits =
    gotShape !== undefined &&
    gotShape.length === shape.length &&
    shape.every((size, i) => size === -1 || size === gotShape[i]) &&
    (wanted === undefined || wanted === gotDtype);
  if (fits) return undefined;
  return {
    check: `dtype and shape at ${path}`,
    expected: `${wanted ?? 'any dtype'} [${shape.join(', ')}]`,
    got: gotShape ? `${gotDtype} [${gotShape.join(', ')}]` : show(value),
  };
}

/** The shape of nested lists; undefined if rows differ or there is nothing. */
function shapeOf(value: unknown): number[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return [];
  const rows = value.map(shapeOf);
  const [first = []] = rows;
  const even = rows.every((row) => row !== undefined && String(row) === String(first));
  return even ? [value.length, ...first] : undefined;
}

function kindOf(value: unknown): string {
  const element = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY)[0] : value;
  return typeof element;
}

function jsonKind(dtype: string): string {
  if (dtype === 'string') return 'string';
  return dtype === 'bool' ? 'boolean' : 'number';
}

function checkGolden(
  value: unknown,
  path: string,
  { golden, absolute = 1e-5, relative = 1e-3 }: GoldenExpectation,
  readFile: ReadFile,
): Difference | undefined {
  const check = `${golden} at ${path}`;
  if (isJsonFile(golden)) {
    const wanted = parseJson(readFile(golden));
    const found = jsonDifference(value, wanted, { absolute, relative });
    if (!found) return undefined;
    return {
      check: check + found.at,
      expected: `${show(found.expected)} (absolute ${absolute}, relative ${relative})`,
      got: show(found.got),
    };
  }
  const tensor = numeric(decodeNpy(readFile(golden)));
  const expected = Array.from(toNumbers(tensor), Number);
  const shape = shapeOf(value);
  const got = flatten(value);
  if (!got || String(shape) !== String(tensor.shape)) {
    return {
      check,
      expected: `numbers of shape [${tensor.shape.join(', ')}]`,
      got: shape ? `${kindOf(value)} [${shape.join(', ')}]` : show(value),
    };
  }
  const worst = expected.findIndex(
    (item, i) => !isNear(got[i] ?? Number.NaN, item, { absolute, relative }),
  );
  if (worst === -1) return undefined;
  return {
    check,
    expected: `${expected[worst]} at element ${worst} (absolute ${absolute}, relative ${relative})`,
    got: String(got[worst]),
  };
}

function numeric(tensor: Tensor): NumericTensor {
  if (tensor.dtype === 'string') {
    throw new ConstructError(
      'SMOKE_TEST_INVALID',
      'a golden tensor holds strings. Give one of numbers.',
    );
  }
  return tensor;
}

/** Nested lists of numbers as one list; undefined if something else is among them. */
function flatten(value: unknown): number[] | undefined {
  const items: unknown[] = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value];
  const numbers = items.map((item) =>
    typeof item === 'number' || typeof item === 'bigint' ? Number(item) : undefined,
  );
  return numbers.includes(undefined) ? undefined : (numbers as number[]);
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : jsonText(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
