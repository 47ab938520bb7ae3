/** JSON requests of a signature, as schemas: TensorFlow Serving's forms, and plain values as instances. */
import { answersResults } from '../inspect/can-be-asked.ts';
import type { DescribedSignature, Inputs } from './described-signature.ts';
import { neededInputs, onlyInput } from './described-signature.ts';
import {
  anyOf,
  elementSchema,
  listOf,
  objectSchema,
  ranksOf,
  rowSchema,
  type Schema,
  STRING,
  tensorSchema,
} from './value-schema.ts';

/** Each form of a JSON request: by rows, by columns, by tf.Examples, and instances without a name around them. */
export function requestSchemas({ key, report, features }: DescribedSignature): Schema[] {
  const { inputs } = report;
  const named = (body: string, schema: Schema, others: readonly string[]) =>
    servingForm(key, body, schema, others);
  const examples = exampleSchema(features);
  const forms = [inputs, ...serializedExamples(report)].flatMap((one) => {
    const rows = instanceSchema(one);
    return [
      ...(rows ? [named('instances', rows, ['inputs', 'examples'])] : []),
      named('inputs', columnsSchema(one), ['instances']),
      ...(rows ? plainDocuments(one) : []),
    ];
  });
  if (Object.keys(inputs).length === 0) return forms;
  return [...forms, named('examples', listOf(examples), ['inputs'])].map((form) =>
    withContext(form, examples),
  );
}

/** For classify and regress TensorFlow Serving reads serialized tf.Examples whatever the dtype of the only input. */
function serializedExamples(report: DescribedSignature['report']): Inputs[] {
  const [[name, only] = [], ...others] = Object.entries(report.inputs);
  if (!answersResults(report) || !name || !only || others.length > 0) return [];
  return only.dtype === 'string' ? [] : [{ [name]: { ...only, dtype: 'string', shape: [-1] } }];
}

/** Other names beside these are passed over. */
function servingForm(key: string, body: string, schema: Schema, others: readonly string[]): Schema {
  const signature = {
    const: key,
    description: 'Or the custom attribute `tfs-signature`. Without both: `serving_default`.',
  };
  return {
    type: 'object',
    properties: { signature_name: signature, [body]: schema },
    required: [body],
    not: anyOf(others.map((other) => ({ required: [other] }))),
  };
}

/** Features that all examples have. */
function withContext(form: Schema, context: Schema): Schema {
  const { properties } = form as { properties?: Readonly<Record<string, Schema>> };
  return properties?.examples ? { ...form, properties: { ...properties, context } } : form;
}

/** Rows by name. Undefined if an input has no first dimension, so that there are none. */
function namedRow(inputs: Inputs): Schema | undefined {
  const rows = Object.entries(inputs).flatMap(([name, tensor]) => {
    const row = rowSchema(tensor);
    return row ? [[name, row] as const] : [];
  });
  const needed = neededInputs(inputs);
  if (rows.length === 0 || needed.some((name) => rows.every(([row]) => row !== name))) {
    return undefined;
  }
  return { ...objectSchema(Object.fromEntries(rows), needed), minProperties: 1 };
}

function instanceSchema(inputs: Inputs): Schema | undefined {
  const named = namedRow(inputs);
  if (!named) return undefined;
  const only = inputs[onlyInput(inputs) ?? ''];
  const plain = only && rowSchema(only);
  return plain ? anyOf([listOf(plain, only.shape?.[0]), listOf(named)]) : listOf(named);
}

/** Documents without `instances` around them: one instance, or a list of lists or of objects. */
function plainDocuments(inputs: Inputs): Schema[] {
  const named = namedRow(inputs);
  if (!named) return [];
  const only = inputs[onlyInput(inputs) ?? ''];
  return [
    ...(neededInputs(inputs).some((name) => SERVING_KEYS.includes(name))
      ? []
      : [{ ...named, not: anyOf(SERVING_KEYS.map((key) => ({ required: [key] }))) }]),
    listOf(named),
    ...(only ? plainValues(only, Object.keys(inputs).length === 1) : []),
  ];
}

/** A document with one of these is read as TensorFlow Serving does. */
const SERVING_KEYS = ['instances', 'inputs', 'examples'];

/**
 * A list of lists is the instances, anything else one instance; where the rank of the only input is known,
 * it decides.
 */
function plainValues(tensor: Inputs[string], isAlone: boolean): Schema[] {
  const { shape } = tensor;
  if (shape === null) return [tensorSchema(tensor, { least: 1 })];
  const rank = isAlone ? shape.length : undefined;
  const isOne = (depth: number) => depth !== rank && (depth + 1 === rank || depth < 2);
  const ranks = ranksOf(shape);
  const batches = ranks.filter((depth) => !isOne(depth));
  const one = ranks.some((each) => isOne(each - 1)) ? rowSchema(tensor, isOne) : undefined;
  return [
    ...(batches.length > 0 ? [tensorSchema(tensor, { least: 1, ranks: batches })] : []),
    ...(one ? [one] : []),
  ];
}

/** Other names beside the inputs are passed over if all inputs are there. */
function columnsSchema(inputs: Inputs): Schema {
  const tensors = Object.entries(inputs);
  const batches = tensors.filter(([, { shape }]) => shape === null || shape.length > 0);
  // Of several batches one may be empty: the values of ragged rows.
  const least = batches.length === 1 ? 1 : 0;
  const properties = Object.fromEntries(
    tensors.map(([name, tensor]) => [name, tensorSchema(tensor, { least })]),
  );
  const all = Object.keys(inputs);
  if (all.length === 0) return objectSchema({});
  const needed = neededInputs(inputs);
  const whole: Schema = { type: 'object', properties, required: all };
  const part: Schema = { ...objectSchema(properties, needed), minProperties: 1 };
  const name = onlyInput(inputs);
  return anyOf([
    ...(name === undefined ? [] : [properties[name] as Schema]),
    whole,
    ...(needed.length < all.length ? [part] : []),
  ]);
}

/** Features that the graph does not parse, and that are no inputs, are passed over. */
function exampleSchema(features: DescribedSignature['features']): Schema {
  const properties = Object.entries(features).map(([name, { dtype }]) => {
    const element =
      dtype === 'int64'
        ? anyOf([elementSchema('int64'), { type: 'boolean' }])
        : elementSchema(dtype);
    return [name, oneOrList(element)] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: oneOrList(anyOf([{ type: 'number' }, { type: 'boolean' }, STRING])),
  };
}

function oneOrList(element: Schema): Schema {
  return anyOf([element, { type: 'array', items: element }]);
}
