/** The shape of a batch whose instances arrive as flat rows. */
import { openShapeText } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/**
 * One value a row is a scalar for each instance, several fill the instance's shape in row-major order; at
 * most one size of the instance may be open.
 * @param rows what the source calls them, for messages: `lines` of `columns`
 * @throws ServingError BAD_INPUT if the values do not fill the shape
 */
export function instanceShape(
  input: string,
  shape: readonly number[] | undefined,
  count: number,
  width: number,
  words: { readonly rows: string; readonly values: string },
): number[] {
  if (!shape) return width === 1 ? [count] : [count, width];
  const misfit = (takes: string): ServingError =>
    new ServingError(
      'BAD_INPUT',
      `input '${input}' takes ${takes}, got ${count} ${words.rows} of ${width} ${words.values}`,
    );
  if (shape.length === 0) {
    if (count === 1 && width === 1) return [];
    throw misfit('one scalar');
  }
  const batch = shape[0] as number;
  if (batch >= 0 && batch !== count) throw misfit(`exactly ${batch} instances`);
  const instance = shape.slice(1);
  const open = instance.filter((size) => size < 0).length;
  const known = instance.reduce((product, size) => (size < 0 ? product : product * size), 1);
  // N is the first size of the whole.
  const sizes = openShapeText(instance).replace('N', '?');
  if (open > 1) throw misfit(`instances of ${sizes}, whose sizes flat values cannot tell`);
  const rest = width / known;
  const isFitting = open === 1 ? Number.isInteger(rest) : rest === 1;
  if (!isFitting) throw misfit(`instances of ${sizes}`);
  return [count, ...instance.map((size) => (size < 0 ? rest : size))];
}
