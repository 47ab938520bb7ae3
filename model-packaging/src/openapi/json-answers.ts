/** JSON answers of a signature, as schemas. They follow TensorFlow Serving's REST API. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { METHOD_NAMES } from '@sagemaker-tfs/tensors';
import { answersResults } from '../inspect/can-be-asked.ts';
import type { TensorReport } from '../inspect/report.ts';
import type { DescribedSignature } from './described-signature.ts';
import {
  anyOf,
  isCarried,
  objectSchema,
  rowSchema,
  type Schema,
  STRING,
  tensorSchema,
} from './value-schema.ts';

type Output = Pick<TensorReport, 'dtype' | 'shape'>;
type Outputs = Readonly<Record<string, Output>>;

/** Each form of a JSON answer: by rows, by columns, and the results of classify and regress. */
export function answerSchemas({ report, postprocess }: DescribedSignature): Schema[] {
  const results = answersResults(report) ? [resultsSchema(report.methodName)] : [];
  const images = { type: 'array', items: { type: 'array', items: DETECTION } };
  const boxes = postprocess?.boxes ? [images] : [];
  const outputs = Object.fromEntries(
    Object.entries(report.outputs).filter(([, one]) => isCarried(one)),
  );
  const isWhole = Object.keys(outputs).length === Object.keys(report.outputs).length;
  const rows = valuesOf(outputs, postprocess, isWhole, rowSchema);
  const columns = valuesOf(outputs, postprocess, isWhole, (tensor) => tensorSchema(tensor));
  const list = rows.length > 0 ? [{ type: 'array', items: anyOf(rows) }] : [];
  return [
    ...results,
    ...when([...boxes, ...list], (one) => objectSchema({ predictions: one })),
    ...when([...boxes, ...columns], (one) => objectSchema({ outputs: one })),
  ];
}

function when(schemas: readonly Schema[], make: (schema: Schema) => Schema): Schema[] {
  return schemas.length > 0 ? [make(anyOf(schemas))] : [];
}

/**
 * The value itself where there is one output, else an object by name: of all outputs, and of those that `tfs-outputs`
 * asks for.
 * @param schemaOf undefined if this form cannot have the output
 */
function valuesOf(
  outputs: Outputs,
  postprocess: Postprocess | undefined,
  isWhole: boolean,
  schemaOf: (tensor: Output) => Schema | undefined,
): Schema[] {
  const value = (names: readonly string[], required?: readonly string[]) => {
    const entries = answered(outputs, names, postprocess).flatMap(([name, tensor]) => {
      const schema = schemaOf(tensor);
      return schema ? [[name, schema] as const] : [];
    });
    const [only, ...others] = entries;
    if (!only) return [];
    const isOne = others.length === 0 && required === undefined;
    return [isOne ? only[1] : objectSchema(Object.fromEntries(entries), required)];
  };
  const all = postprocess?.outputs ?? Object.keys(outputs);
  const hasAll =
    isWhole && !postprocess?.boxes && all.every((name) => outputs[name] && schemaOf(outputs[name]));
  if (all.length < 2) return value(all);
  const [some] = value(all, []);
  return [
    ...(hasAll ? value(all) : []),
    ...(some ? [{ ...some, description: 'Of the outputs that `tfs-outputs` asks for.' }] : []),
    ...all.flatMap((name) => value([name])),
  ];
}

/** Outputs of these names as clients get them. */
function answered(
  outputs: Outputs,
  names: readonly string[],
  postprocess: Postprocess | undefined,
): [string, Output][] {
  const declared = postprocess?.topK;
  const best = declared && (declared.output ?? (names.length === 1 ? names[0] : undefined));
  return names.flatMap((name): [string, Output][] => {
    const tensor = outputs[name];
    if (!tensor) return [];
    return name === best ? topK(tensor, declared) : [[postprocess?.rename?.[name] ?? name, tensor]];
  });
}

function topK({ dtype, shape }: Output, declared: Postprocess['topK']): [string, Output][] {
  const size = shape?.at(-1) ?? -1;
  const best = shape?.with(-1, size < 0 ? -1 : Math.min(declared?.k ?? 1, size)) ?? null;
  const classes = declared?.labels === undefined ? 'int64' : 'string';
  return [
    ['classes', { dtype: classes, shape: best }],
    ['scores', { dtype, shape: best }],
  ];
}

const SCORE: Schema = { type: 'number', format: 'float' };

function resultsSchema(methodName: string): Schema {
  const pair = { type: 'array', prefixItems: [STRING, SCORE], minItems: 2, maxItems: 2 };
  const classes: Schema = { type: 'array', items: pair };
  const items = methodName === METHOD_NAMES.classify ? classes : SCORE;
  return {
    ...objectSchema({ results: { type: 'array', items } }),
    description: 'With `tfs-method`.',
  };
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
