/**
 * TensorFlow Serving's PredictRequest and PredictResponse (tensorflow_serving/apis/predict.proto) on the
 * wire: the hot path, so tensors stay views on the message's bytes.
 */
import { TensorError } from './errors.ts';
import type { Tensor, TensorMap } from './tensor.ts';
import { decodeTensorProto, writeTensorProto } from './tensor-proto.ts';
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
  const writer = new WireWriter();
  for (const name of [...(request.outputs ?? [])].reverse()) {
    writer.stringField(REQUEST.outputFilter, name);
  }
  writeTensors(writer, REQUEST.inputs, request.inputs);
  writeModelSpec(writer, REQUEST.modelSpec, request);
  return writer.finish();
}

/** Writes a PredictResponse as chunks; the tensors' bytes are not copied. */
export function encodePredictResponse(response: PredictResponseMessage): Uint8Array[] {
  const writer = new WireWriter();
  writeModelSpec(writer, RESPONSE.modelSpec, response);
  writeTensors(writer, RESPONSE.outputs, response.outputs);
  return writer.finish();
}

/** Reads a PredictRequest; tensors are views on `bytes`. @throws TensorError, naming the input */
export function decodePredictRequest(bytes: Uint8Array): PredictRequestMessage {
  const inputs: [string, Tensor][] = [];
  const outputs: string[] = [];
  let spec: ModelSpec = { model: { name: '' }, signature: '' };
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === REQUEST.modelSpec) spec = readModelSpec(readBytes(reader));
    else if (field === REQUEST.inputs) inputs.push(readEntry(readBytes(reader), 'input'));
    else if (field === REQUEST.outputFilter) outputs.push(readString(reader));
    else return false;
    return true;
  });
  return {
    ...spec,
    inputs: Object.fromEntries(inputs),
    ...(outputs.length > 0 ? { outputs } : {}),
  };
}

/** Reads a PredictResponse; tensors are views on `bytes`. @throws TensorError, naming the output */
export function decodePredictResponse(bytes: Uint8Array): PredictResponseMessage {
  const outputs: [string, Tensor][] = [];
  let spec: ModelSpec = { model: { name: '' }, signature: '' };
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes) return false;
    if (field === RESPONSE.modelSpec) spec = readModelSpec(readBytes(reader));
    else if (field === RESPONSE.outputs) outputs.push(readEntry(readBytes(reader), 'output'));
    else return false;
    return true;
  });
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

function writeTensors(writer: WireWriter, field: number, tensors: TensorMap): void {
  for (const [name, tensor] of Object.entries(tensors).reverse()) {
    writer.messageField(field, () => {
      writer.messageField(MAP_ENTRY.value, () => writeTensorProto(writer, tensor));
      writer.stringField(MAP_ENTRY.key, name);
    });
  }
}

function readEntry(bytes: Uint8Array, kind: 'input' | 'output'): [string, Tensor] {
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
    return [name, decodeTensorProto(proto)];
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `${kind} "${name}": ${error.message}`, { cause: error });
  }
}
