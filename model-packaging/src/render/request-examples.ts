/** Ready-made requests for a signature: curl, TypeScript, Python. */
import { DEFAULT_SIGNATURE, METHOD_NAMES } from '@sagemaker-tfs/tensors';
import { CUSTOM_ATTRIBUTES_HEADER, requestValue } from '@sagemaker-tfs/tensors/custom-attributes';
import type { SignatureReport, TensorReport, VersionReport } from '../inspect/report.ts';
import { takesExamples } from '../samples/synthetic.ts';
import { exampleOf } from '../samples/synthetic-example.ts';
import type { ExampleFeature } from '../saved-model/example-features.ts';
import { quotedWord } from '../shell-word.ts';

/** One request in three languages; the endpoint's name is `my-endpoint`, the URL a runtime on this machine. */
export interface RequestExamples {
  readonly contentType: string;
  /** The body, unless it is a file or too long to read: then the examples make it. */
  readonly body: string | undefined;
  readonly curl: string;
  /** With `sagemaker-tfs/client`. */
  readonly typescript: string;
  /** With boto3. */
  readonly python: string;
}

const URL = 'http://127.0.0.1:8080/invocations';
const ENDPOINT = 'my-endpoint';

/** Elements of all inputs up to which a body is written out. */
const WRITTEN_OUT = 64;

/** Where a body comes from, in each language. */
interface Body {
  readonly contentType: string;
  readonly text?: string;
  /** Shell words that go before and into curl's `--data-binary`. */
  readonly shell: { readonly before: string; readonly data: string };
  readonly typescript: { readonly imports: string; readonly expression: string };
  readonly python: { readonly imports: string; readonly expression: string };
}

/** What a graph parses out of tf.Example messages, by name. */
type Features = VersionReport['exampleFeatures'];

/**
 * A request for the signature that a runtime accepts, with zeros for the numbers of tensors.
 * @param features of the tf.Example messages that the signature takes. Default: none
 */
export function requestExamples(
  key: string,
  signature: SignatureReport,
  features: Features = {},
): RequestExamples {
  const body = exampleBody(key, signature, features);
  const attributes = customAttributes(key, signature, body.contentType);
  return {
    contentType: body.contentType,
    body: body.text,
    curl: curl(body, attributes),
    typescript: typescript(body, attributes),
    python: python(body, attributes),
  };
}

/** JSON names its signature itself; other bodies, and methods but predict, need the header. */
function customAttributes(key: string, { methodName }: SignatureReport, contentType: string) {
  const method = /^tensorflow\/serving\/(classify|regress)$/.exec(methodName)?.[1];
  const parts = [
    ...(method ? [`tfs-method=${method}`] : []),
    ...(key !== DEFAULT_SIGNATURE && contentType !== 'application/json'
      ? [`tfs-signature=${requestValue(key)}`]
      : []),
  ];
  return parts.join(',');
}

function exampleBody(key: string, signature: SignatureReport, features: Features): Body {
  const inputs = Object.entries(signature.inputs).filter(([, { default: value }]) => !value);
  const name = key === DEFAULT_SIGNATURE ? {} : { signature_name: key };
  const { methodName } = signature;
  if (methodName === METHOD_NAMES.classify || methodName === METHOD_NAMES.regress) {
    return textBody({ ...name, examples: [featureValues(features)] });
  }
  if (takesExamples(signature) && inputs.length === 1) {
    const b64 = Buffer.from(exampleOf(new Map(Object.entries(features)))).toString('base64');
    return textBody({ ...name, inputs: { [inputs[0]?.[0] ?? '']: [{ b64 }] } });
  }
  const [only] = inputs;
  if (only && inputs.length === 1 && takesPicture(only[1], only[0])) return pictureBody();
  const elements = inputs.reduce((sum, [, { shape }]) => sum + elementCount(shape), 0);
  const values = (zeros: (tensor: TensorReport, input: string) => unknown) => {
    const entries = inputs.map(([input, tensor]) => [input, zeros(tensor, input)]);
    return Object.fromEntries(entries) as Record<string, unknown>;
  };
  if (elements <= WRITTEN_OUT) return textBody({ ...name, inputs: values(zeros) });
  return codeBody({ ...name, inputs: values(zerosCall) });
}

/** The features as the JSON of classify and regress has them. */
function featureValues(features: Features): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(features).map(([name, feature]) => [name, featureValue(feature)]),
  );
}

/** 0.5 for floats, because TensorFlow Serving reads JSON's 0 as an int64. */
function featureValue({ dtype, count }: ExampleFeature): unknown {
  const value = dtype === 'string' ? 'text' : dtype === 'int64' ? 0 : 0.5;
  return count === 1 ? value : Array.from({ length: Math.min(count, WRITTEN_OUT) }, () => value);
}

/** Encoded pictures, or pixels: [N,H,W,C] or [N,C,H,W] with 1, 3 or 4 channels. */
function takesPicture({ dtype, shape }: TensorReport, name: string): boolean {
  if (dtype === 'string') return /image.*bytes|^image$|jpeg|png/i.test(name);
  if (shape?.length !== 4) return false;
  return [shape[1], shape[3]].some((size) => size === 1 || size === 3 || size === 4);
}

function pictureBody(): Body {
  return {
    contentType: 'application/x-image',
    shell: { before: '', data: '@picture.jpg' },
    typescript: {
      imports: "import { readFileSync } from 'node:fs';\n",
      expression: "readFileSync('picture.jpg')",
    },
    python: { imports: '', expression: 'open("picture.jpg", "rb").read()' },
  };
}

function textBody(value: unknown): Body {
  const text = JSON.stringify(value);
  return {
    contentType: 'application/json',
    text,
    shell: { before: '', data: quotedWord(text) },
    typescript: { imports: '', expression: `JSON.stringify(${text})` },
    python: { imports: 'import json\n', expression: `json.dumps(${pythonLiteral(value)})` },
  };
}

/** A body too long to read, made by code: `zeros([1, 784])` stands where the numbers go. */
function codeBody(value: unknown): Body {
  const code = JSON.stringify(value).replace(/"zeros\((\[[\d,]*\])\)"/g, 'zeros($1)');
  const define =
    'const zeros = ([n, ...rest]) => n === undefined ? 0 : Array.from({ length: n }, () => zeros(rest));';
  const typed = define.replace('([n, ...rest])', '([n, ...rest]: number[]): unknown');
  const numpy = code.replace(/zeros\((\[[\d,]*\])\)/g, 'np.zeros($1).tolist()');
  return {
    contentType: 'application/json',
    shell: {
      before: `node -e ${quotedWord(`${define} console.log(JSON.stringify(${code}))`)} > request.json && `,
      data: '@request.json',
    },
    typescript: { imports: `${typed}\n`, expression: `JSON.stringify(${code})` },
    python: { imports: 'import json\nimport numpy as np\n', expression: `json.dumps(${numpy})` },
  };
}

function curl({ contentType, shell }: Body, attributes: string): string {
  const header = attributes
    ? ` -H ${quotedWord(`${CUSTOM_ATTRIBUTES_HEADER}: ${attributes}`)}`
    : '';
  return `${shell.before}curl -s ${URL} -H 'Content-Type: ${contentType}'${header} --data-binary ${shell.data}`;
}

function typescript(
  { contentType, typescript: { imports, expression } }: Body,
  attributes: string,
): string {
  const options = [
    ...(contentType === 'application/json' ? [] : [`contentType: '${contentType}'`]),
    ...(attributes ? [`customAttributes: '${attributes.replace(/[\\']/g, '\\$&')}'`] : []),
  ];
  const last = options.length > 0 ? `, { ${options.join(', ')} }` : '';
  return `${imports}import { predict } from 'sagemaker-tfs/client';
const answer = await predict({ endpointName: '${ENDPOINT}' }, ${expression}${last});
console.log(answer.text());`;
}

function python(
  { contentType, python: { imports, expression } }: Body,
  attributes: string,
): string {
  const custom = attributes ? `\n    CustomAttributes=${JSON.stringify(attributes)},` : '';
  return `${imports}import boto3
reply = boto3.client("sagemaker-runtime").invoke_endpoint(
    EndpointName="${ENDPOINT}",
    ContentType="${contentType}",${custom}
    Body=${expression},
)
print(reply["Body"].read().decode())`;
}

/** JSON that Python reads, but for its three names. */
function pythonLiteral(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([k, v]) => `${JSON.stringify(k)}: ${pythonLiteral(v)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value);
}

/** Open sizes as 1; an unknown rank as one row. */
function exampleShape(shape: readonly number[] | null): number[] {
  return (shape ?? [-1]).map((size) => (size < 0 ? 1 : size));
}

function elementCount(shape: readonly number[] | null): number {
  return exampleShape(shape).reduce((product, size) => product * size, 1);
}

function zeros({ dtype, shape }: TensorReport, name: string): unknown {
  const element = dtype === 'bool' ? false : dtype === 'string' ? exampleString(name) : 0;
  const fill = ([size, ...rest]: number[]): unknown =>
    size === undefined ? element : Array.from({ length: size }, () => fill(rest));
  return fill(exampleShape(shape));
}

/** TensorFlow Serving reads inputs whose names end in `_bytes` as base64. */
function exampleString(name: string): unknown {
  return name.endsWith('_bytes') ? { b64: Buffer.from('text').toString('base64') } : 'text';
}

function zerosCall(tensor: TensorReport, name: string): unknown {
  if (tensor.dtype === 'string' || tensor.dtype === 'bool') return zeros(tensor, name);
  return `zeros(${JSON.stringify(exampleShape(tensor.shape))})`;
}
