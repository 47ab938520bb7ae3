/** Bodies and answers of `:classify` and `:regress`. */

import { create } from '@bufbuild/protobuf';
import { invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import { FloatLiteral, numericTensor, writeTensorJson } from '@sagemaker-tfs/tensors';
import {
  type ClassificationResult,
  type Example,
  ExampleSchema,
  type Feature,
  FeatureSchema,
  FeaturesSchema,
  type Input,
  InputSchema,
  type RegressionResult,
} from '@sagemaker-tfs/tensors/protos';
import { withoutDenormal } from './denormals.ts';
import {
  decodeBase64,
  formatError,
  isArray,
  isBase64,
  isObject,
  type JsonObject,
  type JsonValue,
  typeName,
} from './json-values.ts';
import { latin1Json } from './value-json.ts';

/** The examples of a body (from `parseBodyWithFloats`), with its context. @throws StatusError INVALID_ARGUMENT */
export function readExamples(body: JsonObject): Input {
  const context = body.context === undefined ? undefined : readExample(body.context);
  const { examples } = body;
  if (examples === undefined) {
    throw formatError(
      body,
      "When method is classify, key 'examples' is expected and was not found",
    );
  }
  if (!isArray(examples)) throw formatError(body, "Expecting 'examples' value to be an list/array");
  if (examples.length === 0) throw formatError(body, "'examples' value is an empty array");
  const list = examples.map(readExample);
  return create(InputSchema, {
    kind: context
      ? { case: 'exampleListWithContext', value: { examples: list, context } }
      : { case: 'exampleList', value: { examples: list } },
  });
}

function readExample(value: JsonValue): Example {
  if (!isObject(value)) {
    throw invalidArgument(`Example must be JSON object but got JSON ${typeName(value)}`);
  }
  const feature = Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, readFeature(name, content)]),
  );
  return create(ExampleSchema, { features: Object.assign(create(FeaturesSchema), { feature }) });
}

function readFeature(name: string, content: JsonValue): Feature {
  const values = isArray(content) ? content : [content];
  const [kind] = values.slice(0, 1).map((value) => kindOf(name, value));
  const read = (value: JsonValue) => {
    if (kindOf(name, value) === kind) return value;
    throw invalidArgument(`Unexpected element type in feature: ${name} expecting type: ${kind}`);
  };
  switch (kind) {
    case 'bytes': {
      const bytes = values.map((value) => bytesOf(read(value)));
      return create(FeatureSchema, { kind: { case: 'bytesList', value: { value: bytes } } });
    }
    case 'float': {
      const floats = values.map((value) => floatOf(read(value)));
      return create(FeatureSchema, { kind: { case: 'floatList', value: { value: floats } } });
    }
    case 'int64': {
      const ints = values.map((value) => int64Of(name, read(value)));
      return create(FeatureSchema, { kind: { case: 'int64List', value: { value: ints } } });
    }
    default:
      return create(FeatureSchema);
  }
}

/** As JSON writes it: `1` is an int64, `1.0` a float. */
function kindOf(name: string, value: JsonValue): 'bytes' | 'float' | 'int64' {
  if (typeof value === 'string' || isBase64(value)) return 'bytes';
  if (value instanceof FloatLiteral) return 'float';
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') {
    return 'int64';
  }
  throw invalidArgument(
    `Feature: ${name} has element with unexpected JSON type: ${typeName(value)}`,
  );
}

/** Beyond float32 it is infinite, as a cast in C++ makes it. */
function floatOf(value: JsonValue): number {
  return value instanceof FloatLiteral ? withoutDenormal(Math.fround(value.value)) : 0;
}

function bytesOf(value: JsonValue): Uint8Array {
  return isBase64(value) ? decodeBase64(value) : Buffer.from(String(value), 'utf8');
}

function int64Of(name: string, value: JsonValue): bigint {
  const int = BigInt(typeof value === 'boolean' ? Number(value) : (value as number | bigint));
  if (BigInt.asIntN(64, int) === int) return int;
  throw invalidArgument(`Feature: ${name} has uint64_t element. Only int64_t is supported.`);
}

/**
 * `{"results": [[["label", score], ...], ...]}`; labels are bytes that go out as they are, UTF-8 or not.
 * @throws StatusError INVALID_ARGUMENT if it is empty
 */
export function classificationJson({ classifications }: ClassificationResult): Buffer {
  if (classifications.length === 0) {
    throw invalidArgument('Cannot convert empty ClassificationResults to JSON');
  }
  const rows = classifications.map(({ classes }) => {
    const pairs = classes.map(({ label, score }) => `[${latin1Json(label)}, ${floatJson(score)}]`);
    return `[${pairs.join(', ')}]`;
  });
  return Buffer.from(`{\n    "results": [${rows.join(', ')}\n    ]\n}`, 'latin1');
}

/** `{"results": [value, ...]}` @throws StatusError INVALID_ARGUMENT if it is empty */
export function regressionJson({ regressions }: RegressionResult): string {
  if (regressions.length === 0) {
    throw invalidArgument('Cannot convert empty RegressionResults to JSON');
  }
  return `{\n    "results": [${regressions.map(({ value }) => floatJson(value)).join(', ')}]\n}`;
}

/** A float32 with its own digits, not those of the double that JavaScript holds. */
function floatJson(value: number): string {
  const scalar = numericTensor('float32', [], Float32Array.of(withoutDenormal(value)));
  return Buffer.concat([...writeTensorJson(scalar)]).toString();
}
