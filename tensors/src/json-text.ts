/** Any value as JSON that {@link parseJson} reads back: JSON.stringify loses NaN, infinities, -0 and large integers. */

/**
 * As JSON.stringify, except that bigint has all its digits, -0 its sign, and NaN, Infinity and -Infinity are bare, as
 * {@link writeTensorJson} has them.
 * @param indent as JSON.stringify has it
 * @param replace what stands for a value; default: the value
 */
export function jsonText(
  value: unknown,
  indent?: number,
  replace: (item: unknown) => unknown = (item) => item,
): string {
  // Marks these on their way through JSON.stringify. It is new in every call, so no text in the value contains it.
  let mark: string | undefined;
  const text = JSON.stringify(
    value,
    (_key, given: unknown) => {
      const item = replace(given);
      if (!isLost(item)) return item;
      mark ??= crypto.getRandomValues(new Uint32Array(4)).join('-');
      return `${mark}:${Object.is(item, -0) ? '-0' : item}`;
    },
    indent,
  );
  return mark === undefined ? text : text.replace(new RegExp(`"${mark}:([^"]+)"`, 'g'), '$1');
}

function isLost(item: unknown): item is number | bigint {
  if (typeof item === 'number') return !Number.isFinite(item) || Object.is(item, -0);
  return typeof item === 'bigint';
}

/**
 * What to call an object that JSON has no form for and JSON.stringify makes `{}` of: Map, Set, ArrayBuffer, Blob, Response, a
 * promise. Undefined for lists, plain objects, those of classes, and others that have members.
 */
export function nameWithoutJson(value: object): string | undefined {
  if (Array.isArray(value) || Object.keys(value).length > 0) return undefined;
  // Told by its tag: objects of another realm have other prototypes.
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return isBuiltIn(tag) && !WITH_JSON.test(tag) ? tag : undefined;
}

/** Other libraries' objects have tags too. */
function isBuiltIn(tag: string): boolean {
  return typeof Reflect.get(globalThis, tag) === 'function' || /(Generator|Iterator)$/.test(tag);
}

/** Tags of plain objects, of those of most classes, of boxed values and of typed arrays. */
const WITH_JSON = /^(Object|Number|String|Boolean|BigInt|.+Array)$/;
