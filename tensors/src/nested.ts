/** Tensors from nested arrays: the shape is theirs, every element checked, errors name the place. */
import type { DType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { PackedNumbers } from './packed-numbers.ts';
import { elementCount, MAX_RANK, type Tensor } from './tensor.ts';
import { badValue, elementSink } from './values.ts';

/** The name of the place at these indices, outermost first, for messages: `instances[3].image[0]`. */
export type PlaceName = (indices: readonly number[]) => string;

/** How a tree of values is read. */
interface NestedOptions {
  /** Strings at most: an object is made for each. Default: any number. */
  readonly maxStrings?: number | undefined;
  readonly placeName: PlaceName;
  /** Changes the innermost runs before they are written, for example to decode base64. */
  readonly convertRun?: (run: ArrayLike<unknown>, indices: readonly number[]) => ArrayLike<unknown>;
}

/**
 * A tensor from nested arrays of the element values that `tensorFromValues` takes; the innermost arrays
 * may be typed arrays. A value that is not an array becomes a scalar.
 * @param name what messages call the value
 * @throws TensorError SHAPE_MISMATCH naming the first ragged place, VALUE_OUT_OF_RANGE naming the element
 */
export function tensorFromNested(dtype: DType, value: unknown, name = 'value'): Tensor {
  return tensorFromTree(dtype, value, { placeName: indexed(name) });
}

/** Names places as `name[0][2]`. */
export function indexed(name: string): PlaceName {
  return (indices) => name + indices.map((index) => `[${index}]`).join('');
}

/** As {@link tensorFromNested}, with the reading of leaves and the naming of places given. */
export function tensorFromTree(dtype: DType, value: unknown, options: NestedOptions): Tensor {
  const { placeName } = options;
  const shape = shapeOfTree(dtype, value);
  forEachRun(dtype, value, shape, placeName, { run: () => {}, packed: () => true });
  const { maxStrings = Number.POSITIVE_INFINITY } = options;
  if (dtype === 'string' && elementCount(shape) > maxStrings) {
    const count = elementCount(shape);
    throw new TensorError('TOO_LARGE', `${count} strings. At most ${maxStrings} are read.`);
  }
  const sink = elementSink(dtype, elementCount(shape));
  let at = 0;
  const writeRun: RunVisitor['run'] = (run, indices) => {
    const converted = options.convertRun?.(run, indices) ?? run;
    const bad = sink.write(converted, at);
    at += run.length;
    if (bad < 0) return;
    const where = placeName(shape.length > 0 ? [...indices, bad] : indices);
    if (isRun(dtype, converted[bad])) throw ragged(where, 'a list', 'one value');
    throw badValue(where, converted[bad], dtype);
  };
  const writePacked = ({ runs }: PackedNumbers): boolean => {
    let next = at;
    for (const run of runs) {
      if (sink.write(run, next) >= 0) return false;
      next += run.length;
    }
    at = next;
    return true;
  };
  forEachRun(dtype, value, shape, placeName, { run: writeRun, packed: writePacked });
  return sink.tensor(shape);
}

interface RunVisitor {
  readonly run: (run: ArrayLike<unknown>, indices: readonly number[]) => void;
  /** Takes a subtree whole, or says with false that it is to be visited as arrays. */
  readonly packed: (numbers: PackedNumbers) => boolean;
}

/**
 * Calls the visitor for each innermost array, in order. Run once for nothing but its checks, it shows that the
 * shape is real before memory is taken for it.
 */
function forEachRun(
  dtype: DType,
  value: unknown,
  shape: readonly number[],
  placeName: PlaceName,
  visitor: RunVisitor,
): void {
  const indices: number[] = [];
  const visit = (node: unknown, axis: number): void => {
    if (node instanceof PackedNumbers) {
      const isWhole = dtype !== 'string' && hasShape(node, shape.slice(axis));
      if (!(isWhole && visitor.packed(node))) visit(node.toArrays(), axis);
      return;
    }
    const size = shape[axis] as number;
    if (!isRun(dtype, node)) throw ragged(placeName(indices), 'one value', `a list of ${size}`);
    if (node.length !== size)
      throw ragged(placeName(indices), `${node.length} elements`, `${size}`);
    if (axis === shape.length - 1) {
      visitor.run(node, indices);
      return;
    }
    for (let i = 0; i < node.length; i++) {
      indices.push(i);
      visit(node[i], axis + 1);
      indices.pop();
    }
  };
  if (shape.length === 0) visitor.run([value], indices);
  else visit(value, 0);
}

function ragged(where: string, found: string, expected: string): TensorError {
  return new TensorError(
    'SHAPE_MISMATCH',
    `${where} has ${found} where the first of its level has ${expected}`,
  );
}

function shapeOfTree(dtype: DType, value: unknown): number[] {
  const shape: number[] = [];
  let node = value;
  for (; isRun(dtype, node) && shape.length <= MAX_RANK; node = node[0]) {
    shape.push(node.length);
    if (node.length === 0) break;
  }
  // Its rank is that of the brackets in the text, at most 256.
  if (node instanceof PackedNumbers) shape.push(...node.shape);
  if (shape.length <= MAX_RANK) return shape;
  throw new TensorError('SHAPE_MISMATCH', `lists nested more than ${MAX_RANK} deep.`);
}

function hasShape(numbers: PackedNumbers, shape: readonly number[]): boolean {
  const own = numbers.shape;
  return own.length === shape.length && own.every((size, axis) => size === shape[axis]);
}

/** Arrays and typed arrays; bytes are an element where the dtype is string. */
function isRun(dtype: DType, node: unknown): node is ArrayLike<unknown> {
  if (Array.isArray(node)) return true;
  return dtype !== 'string' && ArrayBuffer.isView(node) && !(node instanceof DataView);
}
