/**
 * Messages with maps, where an entry may be called `__proto__`. @bufbuild/protobuf assigns entries to `{}`, so such an entry
 * becomes the map's prototype and is no entry. (A number or a text of that name is lost: no map of ours that holds them
 * takes its names from a model.)
 */
import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';

const NAME = '__proto__';
const NAME_BYTES = new TextEncoder().encode(NAME);

/** As `fromBinary`, with entries called `__proto__`. @throws Error as `fromBinary` does */
export function readMessage<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
): MessageShape<Desc> {
  const message = fromBinary(schema, bytes);
  return hasName(bytes) ? ownEntries(message) : message;
}

/** Makes entries of the prototypes that `fromBinary` and `toJson` left. Changes and returns `value`. */
export function ownEntries<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isMap = !Array.isArray(value) && !Object.hasOwn(value, '$typeName');
  if (isMap && prototype !== Object.prototype) {
    Object.setPrototypeOf(value, Object.prototype);
    const entry = { value: prototype, enumerable: true, writable: true, configurable: true };
    Object.defineProperty(value, NAME, entry);
  }
  for (const member of Object.values(value)) ownEntries(member);
  return value;
}

function hasName(bytes: Uint8Array): boolean {
  const [first = 0] = NAME_BYTES;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (NAME_BYTES.every((byte, index) => bytes[at + index] === byte)) return true;
  }
  return false;
}
