/** JSON of whatever a handler returns. */
import { jsonText, nameWithoutJson } from '@sagemaker-tfs/tensors';

/**
 * The value as JSON: typed arrays are arrays, 64-bit integers keep all their digits, NaN and infinities are bare as in
 * answers of tensors.
 * @throws Error for what JSON has no form for, such as a Map
 */
export function handlerJson(value: unknown): string {
  return jsonText(value, undefined, plain);
}

function plain(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  if (ArrayBuffer.isView(item) && !(item instanceof DataView)) {
    return Array.from(item as Uint8Array);
  }
  const name = nameWithoutJson(item);
  if (name === undefined) return item;
  throw new Error(
    `JSON has no form for the ${name} that it returned. Return ${ADVICE[name] ?? 'a plain object'}.`,
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  Map: 'Object.fromEntries(map)',
  Set: '[...set]',
  Promise: 'what it resolves to: await it',
  ArrayBuffer: 'a typed array of it',
};
