/** TensorFlow Serving's Classify and Regress messages, written and read in turns: they may hold a million examples. */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { varintBytes, writeVarint } from '@sagemaker-tfs/tensors/packed-varints';
import {
  ClassificationRequestSchema,
  ModelSpecSchema,
  readMessage,
} from '@sagemaker-tfs/tensors/protos';
import { modelSpecOf } from '../../model-server/model-service.ts';
import { eachInTurns } from '../../waiting/in-turns.ts';
import type { ExamplesReply, ExamplesRequest, LabeledScore } from '../backend.ts';

/** Field numbers of ClassificationRequest and RegressionRequest, Input and ExampleList (input.proto). */
const INPUT = 2;
const EXAMPLE_LIST = 1;
const EXAMPLES = 1;

/** Of ClassificationResponse and RegressionResponse (classification.proto, regression.proto). */
const RESULT = 1;
const MODEL_SPEC = 2;
/** Of ClassificationResult, Classifications and RegressionResult: what they repeat. */
const ITEMS = 1;
/** Of Class; a Regression has the value alone. */
const LABEL = 1;
const SCORE = 2;
const VALUE = 1;

/**
 * A ClassificationRequest or RegressionRequest, which have the same fields; the examples stay serialized.
 * @throws the signal's reason
 */
export async function encodeExamplesRequest({
  model,
  signature,
  examples,
  signal,
}: ExamplesRequest): Promise<Uint8Array[]> {
  let bytes = 0;
  for (const { byteLength } of examples) bytes += 1 + varintBytes(byteLength) + byteLength;
  const head = create(ClassificationRequestSchema, { modelSpec: modelSpecOf(model, signature) });
  const start = new BinaryWriter()
    .raw(toBinary(ClassificationRequestSchema, head))
    .tag(INPUT, WireType.LengthDelimited)
    .uint32(1 + varintBytes(bytes) + bytes)
    .tag(EXAMPLE_LIST, WireType.LengthDelimited)
    .uint32(bytes)
    .finish();
  const list = Buffer.allocUnsafe(bytes);
  let at = 0;
  const write = (example: Uint8Array) => {
    list[at++] = (EXAMPLES << 3) | WireType.LengthDelimited;
    at = writeVarint(list, at, example.byteLength, 0);
    list.set(example, at);
    at += example.byteLength;
  };
  await eachInTurns(examples, write, { signal, bytesOf: ({ byteLength }) => byteLength });
  return [start, list];
}

/** Reads a ClassificationResponse. @throws the signal's reason */
export async function decodeClassification(
  bytes: Uint8Array,
  signal?: AbortSignalLike,
): Promise<ExamplesReply> {
  const classifications: LabeledScore[][] = [];
  // Undefined begins a row: one turn has as many classes, be they of one row or of many.
  const add = (item: Uint8Array | undefined) => {
    if (item === undefined) classifications.push([]);
    else classifications.at(-1)?.push(readClass(item));
  };
  await eachInTurns(rowsAndClasses(bytes), add, { signal });
  return { classifications, ...versionOf(bytes) };
}

function* rowsAndClasses(response: Uint8Array): Iterable<Uint8Array | undefined> {
  for (const row of itemsOf(response)) {
    yield undefined;
    yield* messagesIn(row, ITEMS);
  }
}

/** Reads a RegressionResponse. @throws the signal's reason */
export async function decodeRegression(
  bytes: Uint8Array,
  signal?: AbortSignalLike,
): Promise<ExamplesReply> {
  const regressions: number[] = [];
  const add = (item: Uint8Array) => regressions.push(readValue(item));
  await eachInTurns(itemsOf(bytes), add, { signal });
  return { regressions, ...versionOf(bytes) };
}

function* itemsOf(response: Uint8Array): Iterable<Uint8Array> {
  for (const result of messagesIn(response, RESULT)) yield* messagesIn(result, ITEMS);
}

function* messagesIn(message: Uint8Array, field: number): Iterable<Uint8Array> {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) yield reader.bytes();
    else reader.skip(type, number);
  }
}

function readClass(message: Uint8Array): LabeledScore {
  const reader = new BinaryReader(message);
  let label: Uint8Array = new Uint8Array(0);
  let score = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === LABEL && type === WireType.LengthDelimited) label = reader.bytes();
    else if (number === SCORE && type === WireType.Bit32) score = reader.float();
    else reader.skip(type, number);
  }
  return { label, score };
}

function readValue(message: Uint8Array): number {
  const reader = new BinaryReader(message);
  let value = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === VALUE && type === WireType.Bit32) value = reader.float();
    else reader.skip(type, number);
  }
  return value;
}

function versionOf(response: Uint8Array): { version?: string } {
  const [spec] = [...messagesIn(response, MODEL_SPEC)].slice(-1);
  const choice = spec && readMessage(ModelSpecSchema, spec).versionChoice;
  return choice?.case === 'version' ? { version: choice.value.value.toString() } : {};
}
