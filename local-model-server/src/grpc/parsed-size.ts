/** What a message takes in memory once it is parsed: bounded before it is, since two bytes may become an object. */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { TensorError } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import {
  forEachField,
  readBytes,
  skipField,
  WIRE,
  type WireReader,
} from '@sagemaker-tfs/tensors/wire-reader';

/** Bytes at most, by the estimates below. */
const MAX_PARSED_BYTES = 2 ** 30;
/** Messages within messages. */
const MAX_DEPTH = 100;

/** Estimates of bytes, rather too many than too few. */
const COST = { message: 256, unknownField: 128, text: 64, scalar: 40 } as const;

/**
 * Estimates what the generated code would make of these bytes. Bytes that are no such message are left to it.
 * @throws StatusError RESOURCE_EXHAUSTED beyond a gigabyte
 */
export function checkParsedSize(
  schema: DescMessage,
  bytes: Uint8Array,
  most = MAX_PARSED_BYTES,
): void {
  let size = 0;
  const add = (cost: number) => {
    size += cost;
    if (size <= most) return;
    const text = `Parsed, the message of ${bytes.byteLength} bytes takes more than ${most} bytes`;
    throw new StatusError(Code.RESOURCE_EXHAUSTED, text);
  };
  try {
    addMessage(schema, bytes, add, 0);
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
  }
}

type Add = (cost: number) => void;

function addMessage(schema: DescMessage, bytes: Uint8Array, add: Add, depth: number): void {
  if (depth > MAX_DEPTH) throw new StatusError(Code.INTERNAL, '');
  add(COST.message);
  const fields = fieldsOf(schema);
  forEachField(bytes, (number, wireType, reader) => {
    const field = fields.get(number);
    const message = field && messageOf(field);
    if (wireType === WIRE.bytes && message) addMessage(message, readBytes(reader), add, depth + 1);
    else if (wireType === WIRE.bytes && field?.fieldKind === 'map') {
      addEntry(field, readBytes(reader), add, depth + 1);
    } else addValue(field, wireType, reader, add);
    return true;
  });
}

/** An entry of a map: its key, and its value. */
function addEntry(
  field: DescField & { readonly fieldKind: 'map' },
  bytes: Uint8Array,
  add: Add,
  depth: number,
): void {
  add(COST.message);
  forEachField(bytes, (number, wireType, reader) => {
    if (number === 2 && wireType === WIRE.bytes && field.mapKind === 'message') {
      addMessage(field.message, readBytes(reader), add, depth + 1);
    } else addValue(field, wireType, reader, add);
    return true;
  });
}

function addValue(
  field: DescField | undefined,
  wireType: number,
  reader: WireReader,
  add: Add,
): void {
  const start = reader.offset;
  skipField(reader, wireType);
  const length = reader.offset - start;
  const isPacked = wireType === WIRE.bytes && field?.fieldKind === 'list' && isNumeric(field);
  // A packed varint may have one byte.
  if (isPacked) add(length * COST.scalar);
  else if (!field) add(COST.unknownField + length);
  else add(wireType === WIRE.bytes ? COST.text + length : COST.scalar);
}

const STRING = 9;
const BYTES = 12;

function isNumeric(field: DescField & { readonly fieldKind: 'list' }): boolean {
  if (field.listKind === 'enum') return true;
  return field.listKind === 'scalar' && field.scalar !== STRING && field.scalar !== BYTES;
}

/** The message that a field holds, alone or in a list. */
function messageOf(field: DescField): DescMessage | undefined {
  const isMessage = field.fieldKind === 'message';
  const isList = field.fieldKind === 'list' && field.listKind === 'message';
  return isMessage || isList ? field.message : undefined;
}

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(schema: DescMessage): ReadonlyMap<number, DescField> {
  const fields = known.get(schema);
  if (fields) return fields;
  const made = new Map(schema.fields.map((field) => [field.number, field] as const));
  known.set(schema, made);
  return made;
}
