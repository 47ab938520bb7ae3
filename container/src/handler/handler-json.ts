/** JSON of whatever a handler returns. */
import { jsonText, nameWithoutJson, own } from '@sagemaker-tfs/tensors';
import { attached } from './attached.ts';

/**
 * The value as JSON: typed arrays are arrays, 64-bit integers keep all their digits, NaN and infinities are bare as in
 * answers of tensors.
 * @throws Error for what JSON has no form for, such as a Map or a function
 */
export function handlerJson(value: unknown): string {
  // JSON.stringify returns undefined for functions, symbols and what becomes one.
  const json: string | undefined = jsonText(value, undefined, plain);
  if (json === undefined) throw withoutJson(typeof value);
  return json;
}

function plain(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  if (ArrayBuffer.isView(item) && !(item instanceof DataView)) {
    return Array.from(attached(item as Uint8Array));
  }
  const name = nameWithoutJson(item);
  if (name === undefined) return item;
  throw withoutJson(name);
}

function withoutJson(name: string): Error {
  const advice = own(ADVICE, name) ?? 'a plain object';
  return new Error(`JSON has no form for the ${name} that it returned. Return ${advice}.`);
}

const ADVICE: Readonly<Record<string, string>> = {
  Map: 'Object.fromEntries(map)',
  Set: '[...set]',
  Promise: 'what it resolves to: await it',
  ArrayBuffer: 'a typed array of it',
  Blob: 'new Uint8Array(await blob.arrayBuffer())',
  Response: "{ body: await response.text(), contentType: 'application/json' }, or what the body is",
  Headers: 'Object.fromEntries(headers)',
  URLSearchParams: 'its text: String(parameters)',
  function: 'what it returns: call it',
  symbol: 'a text',
};
