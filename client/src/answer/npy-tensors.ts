/** `.npy` answers: one output, or several of one dtype flattened and concatenated. */
import {
  decodeNpy,
  elementCount,
  isNumeric,
  type NumericTensor,
  reshape,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { OUTPUT_SHAPES_ATTRIBUTE } from '@sagemaker-tfs/tensors/custom-attributes';
import { unreadable } from './reading.ts';
import { onlyName, type TensorAnswer } from './tensor-answer.ts';

/** Name and shape of one output. */
type NamedShape = readonly [name: string, shape: readonly number[]];

/** The outputs by the names and shapes of the custom attribute `tfs-output-shapes`, views on one another's bytes. */
export function npyTensors({ bytes, customAttributes, outputs }: TensorAnswer): TensorMap {
  const whole = decodeNpy(bytes);
  const told = customAttributes[OUTPUT_SHAPES_ATTRIBUTE];
  if (told !== undefined) return split(whole, parseShapes(told));
  if ((outputs?.length ?? 0) > 1) {
    throw unreadable(
      `the answer concatenates ${outputs?.length} outputs and does not tell their shapes (${OUTPUT_SHAPES_ATTRIBUTE}). Accept application/x-npz.`,
    );
  }
  return { [onlyName(outputs)]: whole };
}

/** `boxes:1x100x4;scores:1x100`, names as `encodeURIComponent` writes them; a scalar has no sizes. */
function parseShapes(text: string): NamedShape[] {
  const names = new Set<string>();
  return text.split(';').map((part) => {
    const match = /^([^:]*):((?:\d+(?:x\d+)*)?)$/.exec(part);
    if (!match)
      throw unreadable(
        `the custom attribute ${OUTPUT_SHAPES_ATTRIBUTE} has "${part}", which is no name with a shape.`,
      );
    const [, name = '', sizes = ''] = match;
    const output = decodeName(name);
    if (names.has(output))
      throw unreadable(`the custom attribute ${OUTPUT_SHAPES_ATTRIBUTE} has "${output}" twice.`);
    names.add(output);
    return [output, sizes === '' ? [] : sizes.split('x').map(Number)];
  });
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function split(whole: Tensor, shapes: readonly NamedShape[]): TensorMap {
  const [single] = shapes;
  if (single && shapes.length === 1) return { [single[0]]: reshape(whole, single[1]) };
  const wanted = shapes.reduce((sum, [, shape]) => sum + elementCount(shape), 0);
  const has = elementCount(whole.shape);
  if (!isNumeric(whole) || wanted !== has) {
    throw unreadable(
      `the answer has ${has} elements, ${OUTPUT_SHAPES_ATTRIBUTE} tells of ${wanted}.`,
    );
  }
  let at = 0;
  return Object.fromEntries(
    shapes.map(([name, shape]) => {
      const from = at;
      at += elementCount(shape);
      return [name, part(whole, shape, from, at)];
    }),
  );
}

function part(
  { dtype, bytes, shape: all }: NumericTensor,
  shape: readonly number[],
  from: number,
  to: number,
): NumericTensor {
  const size = bytes.byteLength / Math.max(1, elementCount(all));
  return { dtype, shape, bytes: bytes.subarray(from * size, to * size) };
}
