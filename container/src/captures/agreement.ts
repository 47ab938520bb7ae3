/** Whether two variants answer the same to the same request. */
import { TensorError } from '@sagemaker-tfs/tensors';
import type { CapturedBody } from './capture.ts';
import { isRead, type Values, valuesOf } from './values.ts';

/** Numbers that may differ and still agree: `absolute + relative * |first|`. */
export interface Tolerance {
  readonly absolute: number;
  readonly relative: number;
}

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

function read(body: CapturedBody): Values | undefined {
  // The size of a body is no answer.
  if (!isRead(body.contentType)) return undefined;
  try {
    return valuesOf(body);
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

function differenceOfValues(one: Values, other: Values, tolerance: Tolerance): Difference {
  const { absolute, relative } = tolerance;
  let largest = 0;
  let where: string | undefined;
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const [a = [], b = []] = [one.get(name), other.get(name)];
    if (a.length !== b.length) where ??= name;
    a.slice(0, b.length).forEach((value, i) => {
      const second = b[i];
      if (Object.is(value, second)) return;
      const apart =
        typeof value === 'number' && typeof second === 'number'
          ? Math.abs(value - second)
          : Number.POSITIVE_INFINITY;
      if (!name.endsWith('.argmax') && Number.isFinite(apart)) largest = Math.max(largest, apart);
      const allowed = typeof value === 'number' ? absolute + relative * Math.abs(value) : 0;
      if (!(apart <= allowed)) where ??= name;
    });
  }
  return { agrees: where === undefined, largest, where };
}
