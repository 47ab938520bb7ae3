/** TensorFlow Serving's Classify and Regress messages. */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  ClassificationRequestSchema,
  ClassificationResponseSchema,
  type ModelSpec,
  RegressionResponseSchema,
  readMessage,
} from '@sagemaker-tfs/tensors/protos';
import { modelSpecOf } from '../../model-server/model-service.ts';
import type { ExamplesReply, ExamplesRequest } from '../backend.ts';

/** Field numbers of ClassificationRequest and RegressionRequest, Input and ExampleList (input.proto). */
const INPUT = 2;
const EXAMPLE_LIST = 1;
const EXAMPLES = 1;

/** A ClassificationRequest or RegressionRequest, which have the same fields; the examples stay serialized. */
export function encodeExamplesRequest({ model, signature, examples }: ExamplesRequest): Uint8Array {
  const list = new BinaryWriter();
  for (const example of examples) list.tag(EXAMPLES, WireType.LengthDelimited).bytes(example);
  const input = new BinaryWriter().tag(EXAMPLE_LIST, WireType.LengthDelimited).bytes(list.finish());
  const head = create(ClassificationRequestSchema, { modelSpec: modelSpecOf(model, signature) });
  return new BinaryWriter()
    .raw(toBinary(ClassificationRequestSchema, head))
    .tag(INPUT, WireType.LengthDelimited)
    .bytes(input.finish())
    .finish();
}

/** Reads a ClassificationResponse. */
export function decodeClassification(bytes: Uint8Array): ExamplesReply {
  const { result, modelSpec } = readMessage(ClassificationResponseSchema, bytes);
  const classifications = (result?.classifications ?? []).map(({ classes }) =>
    classes.map(({ label, score }) => ({ label, score })),
  );
  return { classifications, ...versionOf(modelSpec) };
}

/** Reads a RegressionResponse. */
export function decodeRegression(bytes: Uint8Array): ExamplesReply {
  const { result, modelSpec } = readMessage(RegressionResponseSchema, bytes);
  const regressions = (result?.regressions ?? []).map(({ value }) => value);
  return { regressions, ...versionOf(modelSpec) };
}

function versionOf(spec: ModelSpec | undefined): { version?: string } {
  const choice = spec?.versionChoice;
  return choice?.case === 'version' ? { version: choice.value.value.toString() } : {};
}
