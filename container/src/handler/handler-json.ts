/** JSON of whatever a handler returns: typed arrays are arrays, 64-bit integers keep all their digits. */
import { randomUUID } from 'node:crypto';

/** The value as JSON. */
export function handlerJson(value: unknown): string {
  // Marks bigints on their way through JSON.stringify. It is new in every call, so no text in the value contains it.
  let mark: string | undefined;
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'bigint') {
      mark ??= randomUUID();
      return `${mark}:${item}`;
    }
    if (ArrayBuffer.isView(item) && !(item instanceof DataView)) {
      return Array.from(item as Uint8Array);
    }
    return item;
  });
  return mark === undefined ? text : text.replace(new RegExp(`"${mark}:(-?\\d+)"`, 'g'), '$1');
}
