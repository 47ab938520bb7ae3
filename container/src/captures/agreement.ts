/** Whether two variants answer the same to the same request. */
import { isNear, type Nearness, TensorError } from '@sagemaker-tfs/tensors';
import type { CapturedBody } from './capture.ts';
import { type ExactValue, exactValuesOf, isRead, type Values } from './values.ts';

/** Numbers that may differ and still agree: `absolute + relative * |first|`, whole ones `absolute` alone. */
export type Tolerance = Nearness;

/** How two answers differ. */
export interface Difference {
  readonly agrees: boolean;
  /** Greatest difference of two numbers, of those that is finite: other values differ without one. */
  readonly largest: number;
  /** Where the first disagreement is; undefined if they agree. */
  readonly where: string | undefined;
}

/** Compares two answers by their values, or byte for byte where those are not read. */
export function differenceOf(
  first: CapturedBody,
  second: CapturedBody,
  tolerance: Tolerance,
): Difference {
  if (Buffer.compare(first.bytes, second.bytes) === 0) {
    return { agrees: true, largest: 0, where: undefined };
  }
  const [one, other] = [read(first), read(second)];
  if (!one || !other || first.contentType !== second.contentType) {
    return { agrees: false, largest: 0, where: 'body' };
  }
  return differenceOfValues(one, other, tolerance);
}

function read(body: CapturedBody): Values<ExactValue> | undefined {
  // The size of a body is no answer.
  if (!isRead(body.contentType)) return undefined;
  try {
    return exactValuesOf(body);
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

function differenceOfValues(
  one: Values<ExactValue>,
  other: Values<ExactValue>,
  tolerance: Tolerance,
): Difference {
  let largest = 0;
  let where: string | undefined;
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const [a = [], b = []] = [one.get(name), other.get(name)];
    if (a.length !== b.length) where ??= name;
    a.slice(0, b.length).forEach((value, i) => {
      const second = b[i];
      if (second === undefined || Object.is(value, second)) return;
      const distance = apart(value, second);
      if (!name.endsWith('.argmax') && distance !== undefined)
        largest = Math.max(largest, distance);
      if (!agree(value, second, tolerance)) where ??= name;
    });
  }
  return { agrees: where === undefined, largest, where };
}

/** Undefined if it has no size: one is no number, or not finite. */
function apart(one: ExactValue, other: ExactValue): number | undefined {
  if (typeof one === 'string' || typeof other === 'string') return undefined;
  // Ids may be nearer than a float64 can tell.
  const distance =
    isWhole(one) && isWhole(other) ? Number(one - other) : Number(one) - Number(other);
  return Number.isFinite(distance) ? Math.abs(distance) : undefined;
}

/** A class is not nearly another, however large its number is. */
function agree(one: ExactValue, other: ExactValue, tolerance: Tolerance): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  if (isWhole(one) && isWhole(other)) return Math.abs(Number(one - other)) <= tolerance.absolute;
  return isNear(Number(other), Number(one), tolerance);
}

function isWhole(value: ExactValue): value is bigint {
  return typeof value === 'bigint';
}
