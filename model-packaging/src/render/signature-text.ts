/** A signature in a few lines. */
import { DEFAULT_SIGNATURE, METHOD_NAMES, openShapeText } from '@sagemaker-tfs/tensors';
import type { SignatureReport, TensorReport } from '../inspect/report.ts';

/** Columns of a name before its dtype. */
const NAME = 32;

/**
 * Inputs and outputs in columns, indented; the signature's key above them where it is not the only and default one, its
 * method where it is not predict.
 *
 * @param count signatures that are shown
 */
export function signatureText(key: string, signature: SignatureReport, count: number): string[] {
  const { methodName, inputs, outputs } = signature;
  const rows = [
    ...Object.entries(inputs).map(([name, tensor]) => ['in', name, tensor] as const),
    ...Object.entries(outputs).map(([name, tensor]) => ['out', name, tensor] as const),
  ];
  const widest = Math.min(NAME, Math.max(0, ...rows.map(([, name]) => name.length)));
  const lines = rows.map(
    ([kind, name, tensor]) => `  ${kind.padEnd(4)} ${name.padEnd(widest)}  ${tensorText(tensor)}`,
  );
  const method = /^tensorflow\/serving\/(\w+)$/.exec(methodName)?.[1] ?? methodName;
  const isPredict = methodName === METHOD_NAMES.predict;
  if (count === 1 && key === DEFAULT_SIGNATURE && isPredict) return lines;
  return [`  ${key}${isPredict ? '' : ` (${method || 'no method name'})`}`, ...lines];
}

/** `float32 [N,28,28,1]`; `[...]` for an unknown rank. */
function tensorText({ dtype, shape, default: value }: TensorReport): string {
  const sizes = shape ? openShapeText(shape, ',') : '[...]';
  return `${dtype} ${sizes}${value ? ` = ${defaultText(value)}` : ''}`;
}

/** The first elements of a default. */
export function defaultText(values: readonly (number | string | boolean)[]): string {
  const shown = values
    .slice(0, 4)
    .map((value) => (typeof value === 'number' ? String(value) : JSON.stringify(value)));
  return shown.join(', ') + (values.length > 4 ? `, ... (${values.length})` : '');
}
