/**
 * TensorFlow Serving's PredictRequest and PredictResponse (tensorflow_serving/apis/predict.proto) on the
 * wire: the hot path, so tensors stay views on the message's bytes.
 */
import { TensorError } from './errors.ts';
import { allSteps, type Steps, stepsInTurns } from './steps.ts';
import type { Tensor, TensorMap } from './tensor.ts';
import { type TensorProtoLimits, tensorProtoSteps, writeTensorProto } from './tensor-proto.ts';
import { forEachField, readBytes, readInt64, readString, WIRE } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** Which model, and which version of it. Neither version nor label: the newest version. */
export interface ModelReference {
  readonly name: string;
  /** An int64 in decimal digits. */
  readonly version?: string;
  /** A version label of the model server's configuration; ignored where `version` is given. */
  readonly label?: string;
}

/** A PredictRequest. */
export interface PredictRequestMessage {
  readonly model: ModelReference;
  /** The signature's key; empty for TensorFlow Serving's default, `serving_default`. */
  readonly signature: string;
  readonly inputs: TensorMap;
  /** Names of the outputs wanted (`output_filter`); all where absent or empty. */
  readonly outputs?: readonly string[] | undefined;
}

/** A PredictResponse: the model that answered, and its outputs in the order of the message. */
export interface PredictResponseMessage {
  readonly model: ModelReference;
  readonly signature: string;
  readonly outputs: TensorMap;
}

const REQUEST = { modelSpec: 1, inputs: 2, outputFilter: 3 } as const;
const RESPONSE = { outputs: 1, modelSpec: 2 } as const;
const MODEL_SPEC = { name: 1, version: 2, signatureName: 3, versionLabel: 4 } as const;
const MAP_ENTRY = { key: 1, value: 2 } as const;

/** Writes a PredictRequest as chunks; the tensors' bytes are not copied. */
export function encodePredictRequest(request: PredictRequestMessage): Uint8Array[] {
  return allSteps(requestSteps(request));
}

/** {@link encodePredictRequest} for servers: waits for `nextTurn` after every few thousand strings. */
export function encodePredictRequestInTurns(
  request: PredictRequestMessage,
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array[]> {
  return stepsInTurns(requestSteps(request), nextTurn);
}

function* requestSteps(request: PredictRequestMessage): Steps<Uint8Array[]> {
  const writer = new WireWriter();
  for (const name of [...(request.outputs ?? [])].reverse()) {
    writer.stringField(REQUEST.outputFilter, name);
  }
  yield* writeTensors(writer, REQUEST.inputs, request.inputs);
  writeModelSpec(writer, REQUEST.modelSpec, request);
  return writer.finish();
}

/** Writes a PredictResponse as chunks; the tensors' bytes are not copied. */
export function encodePredictResponse(response: PredictResponseMessage): Uint8Array[] {
  const writer = new WireWriter();
  writeModelSpec(writer, RESPONSE.modelSpec, response);
  allSteps(writeTensors(writer, RESPONSE.outputs, response.outputs));
  return writer.finish();
}

/** What a PredictRequest may make its reader allocate, whatever it declares. */
export interface PredictRequestLimits {
  /** Strings of all inputs together. */
  readonly maxStrings: number;
  /** Inputs, and names of outputs. */
  readonly maxNames: number;
  /** Bytes of all inputs together may be this many times those of the message: a varint of one byte is eight of int64. */
  readonly maxRatio: number;
  /** Bytes beyond that: where there are fewer values than elements, the last one is repeated. */
  readonly maxRepeatedBytes: number;
}

/** Where nothing else is said. */
export const PREDICT_REQUEST_LIMITS: PredictRequestLimits = {
  maxStrings: 2 ** 22,
  maxNames: 65_536,
  maxRatio: 8,
  maxRepeatedBytes: 2 ** 30,
};

/**
 * Reads a PredictRequest; tensors are views on `bytes`.
 * @throws TensorError, naming the input; TOO_LARGE beyond the limits
 */
export function decodePredictRequest(
  bytes: Uint8Array,
  limits: PredictRequestLimits = PREDICT_REQUEST_LIMITS,
): PredictRequestMessage {
  const inputs = new Map<string, Tensor>();
  const outputs: string[] = [];
  const room = roomFor(bytes.byteLength, limits);
  let spec: ModelSpec = { model: { name: '' }, signature: '' };
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === REQUEST.modelSpec) spec = readModelSpec(readBytes(reader));
    else if (field === REQUEST.inputs) {
      const [name, tensor] = readEntry(readBytes(reader), 'input', room.left());
      room.take(tensor);
      inputs.set(name, tensor);
    } else if (field === REQUEST.outputFilter) {
      if (outputs.length === limits.maxNames) throw tooMany('outputs', limits.maxNames);
      outputs.push(readString(reader));
    } else return false;
    return true;
  });
  return {
    ...spec,
    inputs: Object.fromEntries(inputs),
    ...(outputs.length > 0 ? { outputs } : {}),
  };
}

function tooMany(what: string, limit: number): TensorError {
  return new TensorError('TOO_LARGE', `more than ${limit} ${what}`);
}

/** Counts the inputs of a message, those of the same name too. */
function roomFor(messageBytes: number, limits: PredictRequestLimits) {
  const { maxNames, maxStrings, maxRatio, maxRepeatedBytes } = limits;
  const maxBytes = messageBytes * maxRatio + maxRepeatedBytes;
  let names = 0;
  let strings = 0;
  let bytes = 0;
  return {
    left: (): TensorProtoLimits => ({ maxStrings: maxStrings - strings }),
    /** @throws TensorError TOO_LARGE */
    take(tensor: Tensor): void {
      names += 1;
      if (names > maxNames) throw tooMany('inputs', maxNames);
      if (tensor.dtype === 'string') strings += tensor.values.length;
      else bytes += tensor.bytes.byteLength;
      if (bytes > maxBytes) throw tooMany('bytes in the inputs', maxBytes);
    },
  };
}

/** Reads a PredictResponse; tensors are views on `bytes`. @throws TensorError, naming the output */
export function decodePredictResponse(bytes: Uint8Array): PredictResponseMessage {
  return allSteps(responseSteps(bytes, Number.POSITIVE_INFINITY));
}

/** How {@link decodePredictResponseInTurns} reads. */
export interface ResponseInTurns {
  /** Strings of all outputs together. */
  readonly maxStrings: number;
  /** Waited for after every few thousand strings. */
  readonly nextTurn: () => Promise<unknown>;
}

/** {@link decodePredictResponse} for servers. @throws TensorError TOO_LARGE for more strings, too */
export function decodePredictResponseInTurns(
  bytes: Uint8Array,
  { maxStrings, nextTurn }: ResponseInTurns,
): Promise<PredictResponseMessage> {
  return stepsInTurns(responseSteps(bytes, maxStrings), nextTurn);
}

function* responseSteps(bytes: Uint8Array, maxStrings: number): Steps<PredictResponseMessage> {
  const entries: Uint8Array[] = [];
  let spec: ModelSpec = { model: { name: '' }, signature: '' };
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === RESPONSE.modelSpec) spec = readModelSpec(readBytes(reader));
    else if (field === RESPONSE.outputs) entries.push(readBytes(reader));
    else return false;
    return true;
  });
  const outputs: [string, Tensor][] = [];
  let left = maxStrings;
  for (const entry of entries) {
    const [name, tensor] = yield* entrySteps(entry, 'output', { maxStrings: left });
    if (tensor.dtype === 'string') left -= tensor.values.length;
    outputs.push([name, tensor]);
  }
  return { ...spec, outputs: Object.fromEntries(outputs) };
}

interface ModelSpec {
  readonly model: ModelReference;
  readonly signature: string;
}

function writeModelSpec(writer: WireWriter, field: number, { model, signature }: ModelSpec): void {
  const { name, version, label } = model;
  writer.messageField(field, () => {
    if (version === undefined && label !== undefined) {
      writer.stringField(MODEL_SPEC.versionLabel, label);
    }
    if (signature) writer.stringField(MODEL_SPEC.signatureName, signature);
    if (version !== undefined) {
      writer.messageField(MODEL_SPEC.version, () => writer.int64Field(1, BigInt(version)));
    }
    writer.stringField(MODEL_SPEC.name, name);
  });
}

function readModelSpec(bytes: Uint8Array): ModelSpec {
  let name = '';
  let signature = '';
  let choice: { version?: string; label?: string } = {};
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === MODEL_SPEC.name) name = readString(reader);
    else if (field === MODEL_SPEC.version) choice = { version: readInt64Value(readBytes(reader)) };
    else if (field === MODEL_SPEC.versionLabel) choice = { label: readString(reader) };
    else if (field === MODEL_SPEC.signatureName) signature = readString(reader);
    else return false;
    return true;
  });
  return { model: { name, ...choice }, signature };
}

function readInt64Value(bytes: Uint8Array): string {
  let value = 0n;
  forEachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WIRE.varint) return false;
    value = readInt64(reader);
    return true;
  });
  return value.toString();
}

function* writeTensors(writer: WireWriter, field: number, tensors: TensorMap): Steps<void> {
  for (const [name, tensor] of Object.entries(tensors).reverse()) {
    const before = writer.length;
    yield* writeTensorProto(writer, tensor);
    writer.beginMessage(MAP_ENTRY.value, before);
    writer.stringField(MAP_ENTRY.key, name);
    writer.beginMessage(field, before);
  }
}

function readEntry(
  bytes: Uint8Array,
  kind: 'input' | 'output',
  limits?: TensorProtoLimits,
): [string, Tensor] {
  return allSteps(entrySteps(bytes, kind, limits));
}

function* entrySteps(
  bytes: Uint8Array,
  kind: 'input' | 'output',
  limits?: TensorProtoLimits,
): Steps<[string, Tensor]> {
  let name = '';
  let proto: Uint8Array = new Uint8Array(0);
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === MAP_ENTRY.key) name = readString(reader);
    else if (field === MAP_ENTRY.value) proto = readBytes(reader);
    else return false;
    return true;
  });
  try {
    return [name, yield* tensorProtoSteps(proto, limits)];
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `${kind} "${name}": ${error.message}`, { cause: error });
  }
}
