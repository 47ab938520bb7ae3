/** JSON requests and answers of a signature, as schemas. They follow TensorFlow Serving's REST API. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { DEFAULT_SIGNATURE, METHOD_NAMES } from '@sagemaker-tfs/tensors';
import type { SignatureReport, TensorReport } from '../inspect/report.ts';
import { takesExamples } from '../samples/synthetic.ts';
import type { ExampleFeature } from '../saved-model/example-features.ts';
import {
  elementSchema,
  objectSchema,
  rowSchema,
  type Schema,
  tensorSchema,
} from './value-schema.ts';

/** A signature and what is declared around it. */
export interface DescribedSignature {
  readonly key: string;
  readonly report: SignatureReport;
  /** What its graph parses out of tf.Examples, by name. */
  readonly features: Readonly<Record<string, ExampleFeature>>;
  readonly postprocess: Postprocess | undefined;
}

type Tensors = Readonly<Record<string, TensorReport>>;

/** Each form of a JSON request: by rows, by columns, by tf.Examples. */
export function requestSchemas({ key, report, features }: DescribedSignature): Schema[] {
  const named = (body: string, schema: Schema) => withSignature(key, body, schema);
  const examples = named('examples', listOf(featuresSchema(features)));
  if (answersResults(report)) return [examples];
  const rows = instanceSchema(report.inputs);
  return [
    ...(rows ? [named('instances', listOf(rows))] : []),
    named('inputs', columnsSchema(report.inputs)),
    ...(takesExamples(report) && Object.keys(features).length > 0 ? [examples] : []),
  ];
}

/** Each form of a JSON answer, in the order of {@link requestSchemas}. */
export function answerSchemas({ report, postprocess }: DescribedSignature): Schema[] {
  if (answersResults(report)) return [objectSchema({ results: { type: 'array' } })];
  if (postprocess?.boxes) {
    const images = { type: 'array', items: { type: 'array', items: DETECTION } };
    return [objectSchema({ predictions: images }), objectSchema({ outputs: images })];
  }
  const outputs = answered(report.outputs, postprocess);
  const rows = answerRow(outputs);
  return [
    ...(rows ? [objectSchema({ predictions: { type: 'array', items: rows } })] : []),
    objectSchema({ outputs: oneOrAll(outputs, (tensor) => tensorSchema(tensor)) }),
  ];
}

/** True for classify and regress: they take tf.Examples and answer `results`. */
export function answersResults({ methodName }: SignatureReport): boolean {
  return methodName === METHOD_NAMES.classify || methodName === METHOD_NAMES.regress;
}

function withSignature(key: string, body: string, schema: Schema): Schema {
  const properties = { signature_name: { const: key }, [body]: schema };
  return objectSchema(properties, [...(key === DEFAULT_SIGNATURE ? [] : ['signature_name']), body]);
}

function listOf(items: Schema): Schema {
  return { type: 'array', items, minItems: 1 };
}

/** Undefined if an input has no first dimension, so that there are no rows. */
function instanceSchema(inputs: Tensors): Schema | undefined {
  const rows = Object.entries(inputs).map(([name, tensor]) => [name, rowSchema(tensor)] as const);
  if (rows.some(([, row]) => row === undefined)) return undefined;
  const named = objectSchema(Object.fromEntries(rows) as Record<string, Schema>, needed(inputs));
  const [only, ...others] = rows;
  return only?.[1] && others.length === 0 ? { anyOf: [only[1], named] } : named;
}

function columnsSchema(inputs: Tensors): Schema {
  const tensors = Object.entries(inputs);
  const named = objectSchema(
    Object.fromEntries(tensors.map(([name, tensor]) => [name, batchSchema(tensor)])),
    needed(inputs),
  );
  const [only, ...others] = tensors;
  return only && others.length === 0 ? { anyOf: [batchSchema(only[1]), named] } : named;
}

/** The runtime refuses empty batches. */
function batchSchema(tensor: TensorReport): Schema {
  return tensorSchema(tensor, 1);
}

/** Inputs without a default of their own. */
function needed(inputs: Tensors): string[] {
  return Object.keys(inputs).filter((name) => inputs[name]?.default === undefined);
}

function featuresSchema(features: DescribedSignature['features']): Schema {
  const properties = Object.entries(features).map(([name, { dtype, count }]) => {
    const element = elementSchema(dtype);
    const list = { type: 'array', items: element };
    return [name, count === 1 ? { anyOf: [element, list] } : list] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

const DETECTION = objectSchema(
  {
    box: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
    score: { type: 'number' },
    class: { type: 'number' },
    label: { type: 'string' },
  },
  ['box', 'score', 'class'],
);

type Outputs = Readonly<Record<string, Pick<TensorReport, 'dtype' | 'shape'>>>;

/** Outputs as clients get them. */
function answered(outputs: Outputs, postprocess: Postprocess | undefined): Outputs {
  const kept = postprocess?.outputs ?? Object.keys(outputs);
  const best = postprocess?.topK && (postprocess.topK.output ?? kept[0]);
  const entries = kept.flatMap((name): [string, Outputs[string]][] => {
    const tensor = outputs[name] ?? { dtype: '', shape: null };
    if (name === best) return topK(tensor, postprocess?.topK);
    return [[postprocess?.rename?.[name] ?? name, tensor]];
  });
  return Object.fromEntries(entries);
}

function topK(
  { dtype, shape }: Outputs[string],
  declared: Postprocess['topK'],
): [string, Outputs[string]][] {
  const size = shape?.at(-1) ?? -1;
  const best = shape?.with(-1, size < 0 ? -1 : Math.min(declared?.k ?? 1, size)) ?? null;
  const classes = declared?.labels === undefined ? 'int64' : 'string';
  return [
    ['classes', { dtype: classes, shape: best }],
    ['scores', { dtype, shape: best }],
  ];
}

function answerRow(outputs: Outputs): Schema | undefined {
  const isRows = Object.values(outputs).every(({ shape }) => shape !== null && shape.length > 0);
  return isRows ? oneOrAll(outputs, (tensor) => rowSchema(tensor) ?? {}) : undefined;
}

/** The value itself where there is one output, else an object by name. */
function oneOrAll(outputs: Outputs, schemaOf: (tensor: Outputs[string]) => Schema): Schema {
  const entries = Object.entries(outputs).map(([name, one]) => [name, schemaOf(one)] as const);
  const [only, ...others] = entries;
  return only && others.length === 0 ? only[1] : objectSchema(Object.fromEntries(entries));
}
