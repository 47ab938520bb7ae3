/**
 * Odd requests, and what TensorFlow Serving itself answered to each: `odd-answers.json`, which
 * `UPDATE_ODD_ANSWERS=1 npm run with-real-server -- --binary PATH --tests local-model-server` writes anew.
 */
import { request as httpRequest } from 'node:http';
import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  ClassificationRequestSchema,
  ClassificationResponseSchema,
  GetModelMetadataRequestSchema,
  GetModelMetadataResponseSchema,
  GetModelStatusRequestSchema,
  GetModelStatusResponseSchema,
  GRPC_METHODS,
  MultiInferenceRequestSchema,
  MultiInferenceResponseSchema,
  PredictRequestSchema,
  PredictResponseSchema,
  RegressionRequestSchema,
  RegressionResponseSchema,
  ReloadConfigRequestSchema,
  ReloadConfigResponseSchema,
  SignatureDefMapSchema,
  type TensorProtoSchema,
} from '@sagemaker-tfs/tensors/protos';
import type { GrpcClient, ServerProcess } from './server-process.ts';

/** A server under test. */
export interface Asked {
  readonly server: ServerProcess;
  readonly client: GrpcClient;
}

/** One request: its name, and how it is sent. */
interface OddCall {
  readonly name: string;
  ask(asked: Asked): Promise<unknown>;
}

/** Some requests get no answer at all. */
const SILENCE_MS = 3_000;

/** Messages inside of others. */
const PACKED = createRegistry(SignatureDefMapSchema);

type Tensor = MessageInitShape<typeof TensorProtoSchema>;

/** A gRPC call that is answered by a message or by a status. */
function grpc<Q extends DescMessage, A extends DescMessage>(
  path: string,
  [request, response]: readonly [Q, A],
) {
  const send = async ({ client }: Asked, bytes: Uint8Array) => {
    try {
      return toJson(response, fromBinary(response, await client.call(path, bytes)), {
        registry: PACKED,
      });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && 'details' in error)) throw error;
      return { code: error.code, details: error.details };
    }
  };
  const method = path.slice(path.lastIndexOf('/') + 1);
  return (name: string, what: MessageInitShape<Q> | Buffer): OddCall => ({
    name: `${method}: ${name}`,
    ask: (asked) =>
      send(asked, Buffer.isBuffer(what) ? what : toBinary(request, create(request, what))),
  });
}

const predict = grpc(GRPC_METHODS.predict, [PredictRequestSchema, PredictResponseSchema]);
const classify = grpc(GRPC_METHODS.classify, [
  ClassificationRequestSchema,
  ClassificationResponseSchema,
]);
const regress = grpc(GRPC_METHODS.regress, [RegressionRequestSchema, RegressionResponseSchema]);
const multi = grpc(GRPC_METHODS.multiInference, [
  MultiInferenceRequestSchema,
  MultiInferenceResponseSchema,
]);
const status = grpc(GRPC_METHODS.getModelStatus, [
  GetModelStatusRequestSchema,
  GetModelStatusResponseSchema,
]);
const metadata = grpc(GRPC_METHODS.getModelMetadata, [
  GetModelMetadataRequestSchema,
  GetModelMetadataResponseSchema,
]);
const reload = grpc(GRPC_METHODS.handleReloadConfigRequest, [
  ReloadConfigRequestSchema,
  ReloadConfigResponseSchema,
]);

type Spec = NonNullable<MessageInitShape<typeof PredictRequestSchema>['modelSpec']>;

const spec = (name: string, signatureName = '', more: object = {}): Spec => ({
  name,
  signatureName,
  ...more,
});
const version = (value: bigint) => ({ versionChoice: { case: 'version', value: { value } } });
const label = (value: string) => ({ versionChoice: { case: 'versionLabel', value } });
const dims = (...sizes: (number | bigint)[]) => ({
  dim: sizes.map((size) => ({ size: BigInt(size) })),
});
const float = (...values: number[]): Tensor => ({
  dtype: 1,
  tensorShape: dims(values.length, 1),
  floatVal: values,
});

/** Predict of half_plus_two with this tensor. */
const half = (name: string, x: Tensor) =>
  predict(name, { modelSpec: spec('half_plus_two'), inputs: { x } });
/** Predict of a signature of `dtypes`, which echoes. */
const echo = (name: string, signature: string, x: Tensor) =>
  predict(name, { modelSpec: spec('dtypes', signature), inputs: { x } });
const words = (name: string, data: Tensor) =>
  predict(name, { modelSpec: spec('strings', 'bytes'), inputs: { data_bytes: data } });

const bytes = (...values: number[]) => new Uint8Array(values);

const PREDICTS: readonly OddCall[] = [
  predict('nothing at all', Buffer.alloc(0)),
  predict('bytes that are no message', Buffer.from('ff', 'hex')),
  predict('a message that is cut off', Buffer.from('0a100a04', 'hex')),
  predict('a wire type that does not fit its field', Buffer.from('0801', 'hex')),
  predict(
    'unknown fields',
    Buffer.concat([
      toBinary(
        PredictRequestSchema,
        create(PredictRequestSchema, { modelSpec: spec('half_plus_two'), inputs: { x: float(1) } }),
      ),
      Buffer.from('a20601ff', 'hex'),
    ]),
  ),
  predict('an empty model_spec', { modelSpec: {} }),
  predict('a name of a blank', { modelSpec: spec(' ') }),
  predict('a name in other letters', { modelSpec: spec('Half_Plus_Two') }),
  predict('a name of two lines', { modelSpec: spec('a\nb') }),
  predict('a name beyond ASCII', { modelSpec: spec('modèle') }),
  predict('a name of 2,000 letters', { modelSpec: spec('n'.repeat(2_000)) }),
  predict('a name of 1,000 euros', { modelSpec: spec('€'.repeat(1_000)) }),
  ...[0n, -1n, 99n, 2n ** 63n - 1n].map((value) =>
    predict(`version ${value}`, { modelSpec: spec('half_plus_two', '', version(value)) }),
  ),
  predict('an empty label', { modelSpec: spec('half_plus_two', '', label('')) }),
  predict('an unknown label', { modelSpec: spec('half_plus_two', '', label('no')) }),
  predict('a label of no model', { modelSpec: spec('nobody', '', label('no')) }),
  predict('a version by its label', {
    modelSpec: spec('half_plus_two', '', label('stable')),
    inputs: { x: float(1) },
  }),
  predict('a signature of a blank', { modelSpec: spec('half_plus_two', ' ') }),
  predict('the signature of the initializer', {
    modelSpec: spec('multi_signature', '__saved_model_init_op'),
  }),
  predict('a classification signature', { modelSpec: spec('half_plus_two', 'classify_x_to_y') }),
  predict('no serving_default', { modelSpec: spec('dtypes') }),
  predict('an input of an empty name', {
    modelSpec: spec('half_plus_two'),
    inputs: { '': float(1) },
  }),
  predict('an input too many', {
    modelSpec: spec('half_plus_two'),
    inputs: { x: float(1), y: float(1) },
  }),
  predict('two inputs, both wrong', {
    modelSpec: spec('half_plus_two'),
    inputs: { a: float(1), b: float(1) },
  }),
  predict('an output twice', {
    modelSpec: spec('half_plus_two'),
    inputs: { x: float(1) },
    outputFilter: ['y', 'y'],
  }),
  predict('an output of an empty name', {
    modelSpec: spec('half_plus_two'),
    inputs: { x: float(1) },
    outputFilter: [''],
  }),
  predict('an output by its tensor', {
    modelSpec: spec('half_plus_two'),
    inputs: { x: float(1) },
    outputFilter: ['y:0'],
  }),
  predict('default inputs left out', {
    modelSpec: spec('default_inputs'),
    inputs: { x: { dtype: 1, tensorShape: dims(2), floatVal: [1, 2] } },
  }),
  predict('default inputs alone', {
    modelSpec: spec('default_inputs'),
    inputs: { scale: { dtype: 1, tensorShape: {}, floatVal: [1] } },
  }),
  half('an empty tensor message', {}),
  half('a dtype without values', { dtype: 1 }),
  half('another dtype', { dtype: 3, tensorShape: dims(1, 1), intVal: [1] }),
  half('a dtype of 0 with bytes', { tensorShape: dims(1, 1), tensorContent: bytes(0, 0, 128, 63) }),
  half('an unknown dtype', { dtype: 999 as 1, tensorShape: dims(1, 1), floatVal: [1] }),
  half('a reference dtype', { dtype: 101 as 1, tensorShape: dims(1, 1), floatVal: [1] }),
  half('a resource', { dtype: 20, tensorShape: dims(1, 1) }),
  half('a variant', { dtype: 21, tensorShape: dims(1, 1) }),
  half('complex numbers', { dtype: 8 as 1, tensorShape: dims(1, 1) }),
  half('a string where floats belong', {
    dtype: 7,
    tensorShape: dims(1, 1),
    stringVal: [bytes(1)],
  }),
  half('a shape of unknown rank', { dtype: 1, tensorShape: { unknownRank: true }, floatVal: [1] }),
  half('a negative size', { dtype: 1, tensorShape: dims(-1, 1), floatVal: [1] }),
  half('a size of -2', { dtype: 1, tensorShape: dims(-2, 1), floatVal: [1] }),
  half('sizes that overflow', { dtype: 1, tensorShape: dims(2n ** 40n, 2n ** 40n), floatVal: [1] }),
  half('a tensor of 2^62 values from none', { dtype: 1, tensorShape: dims(2n ** 31n, 2n ** 31n) }),
  half('255 dimensions', {
    dtype: 1,
    tensorShape: dims(...Array.from({ length: 255 }, () => 1)),
    floatVal: [1],
  }),
  half('no rows', { dtype: 1, tensorShape: dims(0, 1) }),
  half('no rows, with a value', { dtype: 1, tensorShape: dims(0, 1), floatVal: [1] }),
  half('a scalar', { dtype: 1, tensorShape: {}, floatVal: [1] }),
  half('a vector', { dtype: 1, tensorShape: dims(2), floatVal: [1, 2] }),
  half('three dimensions', { dtype: 1, tensorShape: dims(1, 1, 1), floatVal: [1] }),
  half('two columns', { dtype: 1, tensorShape: dims(1, 2), floatVal: [1, 2] }),
  half('one value for three', { dtype: 1, tensorShape: dims(3, 1), floatVal: [5] }),
  half('two values for three', { dtype: 1, tensorShape: dims(3, 1), floatVal: [5, 6] }),
  half('no values for three', { dtype: 1, tensorShape: dims(3, 1) }),
  half('four values for three', { dtype: 1, tensorShape: dims(3, 1), floatVal: [5, 6, 7, 8] }),
  half('values of another field', { dtype: 1, tensorShape: dims(1, 1), intVal: [5] }),
  half('values and bytes', {
    dtype: 1,
    tensorShape: dims(1, 1),
    floatVal: [5],
    tensorContent: bytes(0, 0, 128, 63),
  }),
  half('too few bytes', { dtype: 1, tensorShape: dims(2, 1), tensorContent: bytes(0, 0, 128, 63) }),
  half('too many bytes', {
    dtype: 1,
    tensorShape: dims(1, 1),
    tensorContent: bytes(0, 0, 128, 63, 0, 0, 0, 0),
  }),
  half('a byte too many', {
    dtype: 1,
    tensorShape: dims(1, 1),
    tensorContent: bytes(0, 0, 128, 63, 0),
  }),
  half(
    'NaN, infinities, minus zero, a denormal',
    float(Number.NaN, Infinity, -Infinity, -0, 1e-40),
  ),
  echo('bytes below zero in int_val', 'uint8', {
    dtype: 4,
    tensorShape: dims(2),
    intVal: [-1, 300],
  }),
  echo('int8 beyond its range', 'int8', { dtype: 6, tensorShape: dims(2), intVal: [200, -200] }),
  echo('int16 beyond its range', 'int16', { dtype: 5, tensorShape: dims(1), intVal: [70_000] }),
  echo('uint16', 'uint16', { dtype: 17, tensorShape: dims(2), intVal: [65_535, 65_536] }),
  echo('uint32', 'uint32', { dtype: 22, tensorShape: dims(2), uint32Val: [1, 2 ** 32 - 1] }),
  echo('uint64', 'uint64', { dtype: 23, tensorShape: dims(1), uint64Val: [2n ** 64n - 1n] }),
  echo('int64', 'int64', { dtype: 9, tensorShape: dims(2), int64Val: [-(2n ** 63n), 1n] }),
  echo('half_val', 'float16', { dtype: 19, tensorShape: dims(2), halfVal: [0x3c00, 0x1ffff] }),
  echo('half_val for bfloat16', 'bfloat16', { dtype: 14, tensorShape: dims(1), halfVal: [0x3f80] }),
  echo('bool_val', 'bool', { dtype: 10, tensorShape: dims(3), boolVal: [true, false] }),
  echo('bool bytes that are not 0 or 1', 'bool', {
    dtype: 10,
    tensorShape: dims(2),
    tensorContent: bytes(2, 255),
  }),
  echo('double_val', 'float64', { dtype: 2, tensorShape: dims(2), doubleVal: [1e300, 5e-324] }),
  words('a string for three', { dtype: 7, tensorShape: dims(3), stringVal: [bytes(97)] }),
  words('no strings for two', { dtype: 7, tensorShape: dims(2) }),
  words('too many strings', { dtype: 7, tensorShape: dims(1), stringVal: [bytes(97), bytes(98)] }),
  words('an empty list of strings', { dtype: 7, tensorShape: dims(0) }),
  words('strings in tensor_content', {
    dtype: 7,
    tensorShape: dims(1),
    tensorContent: bytes(1, 97),
  }),
  words('bytes that are no text', {
    dtype: 7,
    tensorShape: dims(2),
    stringVal: [bytes(255, 0, 254), bytes()],
  }),
];

const feature = (kind: object) => ({ features: { feature: { x: { kind } } } });
const floats = (...value: number[]) => ({ case: 'floatList', value: { value } });
const list = (...examples: object[]) => ({ kind: { case: 'exampleList', value: { examples } } });
const withContext = (context: object, ...examples: object[]) => ({
  kind: { case: 'exampleListWithContext', value: { context, examples } },
});
type Input = NonNullable<MessageInitShape<typeof ClassificationRequestSchema>['input']>;

const INPUTS: readonly (readonly [name: string, input: object | undefined])[] = [
  ['no input', undefined],
  ['an empty input', {}],
  ['an empty list', list()],
  ['an example', list(feature(floats(2)))],
  ['an example without features', list({})],
  ['a feature of another kind', list(feature({ case: 'int64List', value: { value: [1n] } }))],
  ['a feature without values', list(feature(floats()))],
  ['a feature of two values', list(feature(floats(1, 2)))],
  ['a context without examples', withContext(feature(floats(1)))],
  [
    'a context and an example that says otherwise',
    withContext(feature(floats(1)), feature(floats(3)), {}),
  ],
];

const EXAMPLES: readonly OddCall[] = [
  classify('nothing at all', Buffer.alloc(0)),
  regress('nothing at all', Buffer.alloc(0)),
  ...INPUTS.flatMap(([name, input]) => {
    const given = input && { input: input as Input };
    return [
      classify(name, { modelSpec: spec('half_plus_two', 'classify_x_to_y'), ...given }),
      regress(name, { modelSpec: spec('half_plus_two', 'regress_x_to_y'), ...given }),
    ];
  }),
  classify('no such signature', { modelSpec: spec('half_plus_two', 'nobody') }),
  regress('no such signature', { modelSpec: spec('half_plus_two', 'nobody') }),
  classify('no such model', { modelSpec: spec('nobody') }),
  regress('no such version', { modelSpec: spec('half_plus_two', '', version(9n)) }),
  classify('an example that the model refuses', {
    modelSpec: spec('tf1_classifier'),
    input: list(feature(floats(1))) as Input,
  }),
  multi('nothing at all', Buffer.alloc(0)),
  multi('a task without a model_spec', { tasks: [{}] }),
  multi('a task without a method', { tasks: [{ modelSpec: spec('half_plus_two') }] }),
  multi('a signature that is not there, and an unknown method', {
    tasks: [{ modelSpec: spec('half_plus_two', 'nobody'), methodName: 'x' }],
  }),
  multi('no such model', { tasks: [{ modelSpec: spec('nobody'), methodName: 'x' }] }),
  multi('no examples', {
    tasks: [
      {
        modelSpec: spec('half_plus_two', 'regress_x_to_y'),
        methodName: 'tensorflow/serving/regress',
      },
    ],
  }),
];

const INFORMATION: readonly OddCall[] = [
  status('nothing at all', Buffer.alloc(0)),
  status('an empty model_spec', { modelSpec: {} }),
  status('no such model', { modelSpec: spec('nobody') }),
  status('version -1', { modelSpec: spec('half_plus_two', '', version(-1n)) }),
  status('a version', { modelSpec: spec('half_plus_two', '', version(1n)) }),
  status('a label', { modelSpec: spec('half_plus_two', '', label('stable')) }),
  status('a signature that is not there', { modelSpec: spec('half_plus_two', 'nobody') }),
  metadata('nothing at all', Buffer.alloc(0)),
  metadata('no model_spec', { metadataField: ['signature_def'] }),
  metadata('an empty model_spec', { modelSpec: {}, metadataField: ['signature_def'] }),
  metadata('no field', { modelSpec: spec('half_plus_two') }),
  metadata('an empty field', { modelSpec: spec('half_plus_two'), metadataField: [''] }),
  metadata('a known and an unknown field', {
    modelSpec: spec('half_plus_two'),
    metadataField: ['signature_def', 'x'],
  }),
  metadata('a field twice', {
    modelSpec: spec('default_inputs'),
    metadataField: ['signature_def', 'signature_def'],
  }),
  metadata('no such label', {
    modelSpec: spec('half_plus_two', '', label('no')),
    metadataField: ['signature_def'],
  }),
];

/** A request over REST; what comes back is its status and its body, read as JSON where it is JSON. */
function rest(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): OddCall {
  const shown = body === undefined ? '' : ` ${body.toString('latin1').slice(0, 120)}`;
  const more = Object.entries(headers).map(([key, value]) => ` ${key}: ${value}`);
  return {
    name: `${method} ${path}${more.join('')}${shown}`,
    ask: ({ server }) =>
      new Promise((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port: server.restPort,
          method,
          path,
          headers,
          timeout: SILENCE_MS,
        };
        const sent = httpRequest(options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode,
              type: response.headers['content-type'],
              body: readable(Buffer.concat(chunks).toString()),
            }),
          );
        });
        sent.on('timeout', () => {
          resolve('no answer');
          sent.destroy();
        });
        sent.on('error', reject);
        sent.end(body);
      }),
  };
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // NaN and infinities are no JSON.
    return text.replace(/\s+/g, '');
  }
}

const HALF = '/v1/models/half_plus_two';
const rows = (path: string, ...bodies: string[]) =>
  bodies.map((body) => rest('POST', `/v1/models/${path}:predict`, body));

const REST: readonly OddCall[] = [
  ...[
    '/',
    '/v1',
    '/v1/models',
    '/v1/models/',
    '/v2/models/half_plus_two',
    '/v1/models/nobody',
    HALF,
    `${HALF}/`,
    `${HALF}?x=1`,
    `${HALF}/versions/1`,
    `${HALF}/versions/01`,
    `${HALF}/versions/9`,
    `${HALF}/versions/x`,
    `${HALF}/versions/-1`,
    `${HALF}/versions/99999999999999999999`,
    `${HALF}/versions/`,
    `${HALF}/labels/stable`,
    `${HALF}/labels/no`,
    `${HALF}/metadata/`,
    `${HALF}/versions/9/metadata`,
    `${HALF}/labels/stable/metadata`,
    '/v1/models/nobody/metadata',
    `${HALF}:predict`,
    `${HALF}:nothing`,
    `${HALF}/else`,
    '/v1/models/half%5Fplus_two',
    '/v1/models/a.b-c',
    '/v1/models/a:b',
    '/V1/models/half_plus_two',
    '//v1/models/half_plus_two',
  ].map((path) => rest('GET', path)),
  ...['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'].map((method) => rest(method, HALF)),
  rest('POST', HALF, '{}'),
  rest('POST', '/v1/models/nobody:predict', '{"instances":[1]}'),
  rest('POST', `${HALF}:nothing`, '{}'),
  rest('POST', `${HALF}:Predict`, '{}'),
  rest('POST', `${HALF}:predict/`, '{}'),
  rest('POST', `${HALF}/versions/9:predict`, '{"instances":[1]}'),
  rest('POST', `${HALF}/versions/1:predict`, '{"instances":[[1]]}'),
  rest('POST', `${HALF}/labels/no:predict`, '{"instances":[1]}'),
  rest('POST', `${HALF}/labels/stable:predict`, '{"instances":[[1]]}'),
  rest('POST', `${HALF}:predict`),
  rest('POST', `${HALF}:predict`, '{"instances":[[1]]}', { 'content-type': 'text/plain' }),
  rest('POST', `${HALF}:predict`, '{"instances":[[1]]}', {
    'content-type': 'application/x-www-form-urlencoded',
  }),
  rest('POST', `${HALF}:predict`, 'no gzip', { 'content-encoding': 'gzip' }),
  rest('POST', `${HALF}:predict`, '{"instances":[[1]]}', { 'content-encoding': 'br' }),
  rest('POST', `${HALF}:predict`, '{"instances":[[1]]}', { accept: 'text/html' }),
  ...rows(
    'half_plus_two',
    '',
    ' ',
    'null',
    '1',
    '"x"',
    '[]',
    '[1]',
    '{}',
    '{"instances":null}',
    '{"instances":1}',
    '{"instances":"x"}',
    '{"instances":{}}',
    '{"instances":[]}',
    '{"instances":[[]]}',
    '{"instances":[1]}',
    '{"instances":[1,2]}',
    '{"instances":[[1],[2]]}',
    '{"instances":[[1],[2,3]]}',
    '{"instances":[[1],2]}',
    '{"instances":[null]}',
    '{"instances":[true]}',
    '{"instances":["1"]}',
    '{"instances":[{"x":[1]}]}',
    '{"instances":[{"x":[1]},{"x":[2]}]}',
    '{"instances":[{"x":[1]},{}]}',
    '{"instances":[{"x":[1]},{"x":[1],"y":[1]}]}',
    '{"instances":[{"y":[1]}]}',
    '{"instances":[{}]}',
    '{"instances":[{"x":[1]},[1]]}',
    '{"instances":[[1],{"x":[1]}]}',
    '{"instances":[[[1]]]}',
    '{"instances":[[1e400]]}',
    '{"instances":[[NaN]]}',
    '{"instances":[[Infinity]]}',
    '{"instances":[[-0]]}',
    '{"instances":[[1]],}',
    '{"instances":[[1]]} x',
    '{"instances":[[1]]}{"instances":[[2]]}',
    "{'instances':[[1]]}",
    '{"instances":[[01]]}',
    '{"instances":[[+1]]}',
    '{"instances":[[.5]]}',
    '{"instances":[[1.]]}',
    '{"instances":[[0x10]]}',
    '{"instances":[[1] /* c */]}',
    '\ufeff{"instances":[[1]]}',
    '{"instances":[[1]],"instances":[[2]]}',
    '{"inputs":[[1]],"instances":[[1]]}',
    '{"inputs":[[1],[2]]}',
    '{"inputs":{"x":[[1]]}}',
    '{"inputs":{"x":[[1]],"y":1}}',
    '{"inputs":{}}',
    '{"inputs":1}',
    '{"inputs":[]}',
    '{"inputs":null}',
    '{"inputs":"x"}',
    '{"inputs":{"y":[[1]]}}',
    '{"inputs":[[1],[2,3]]}',
    '{"inputs":{"x":{"b64":"AAAA"}}}',
    '{"signature_name":"nobody","instances":[[1]]}',
    '{"signature_name":1,"instances":[[1]]}',
    '{"signature_name":"","instances":[[1]]}',
    '{"signature_name":null,"instances":[[1]]}',
    '{"signature_name":"classify_x_to_y","instances":["x"]}',
    '{"more":1,"instances":[[1]]}',
    '{"instances":[[123456789.123]]}',
    '{"instances":[[0.1],[1e20],[1e-7],[3.4e38]]}',
    '{"instances":[{"b64":"AAAA"}]}',
    '{"instances":[[1]], "x": "\\ud800"}',
  ),
  ...rows(
    'strings',
    '{"signature_name":"bytes","instances":["a"]}',
    '{"signature_name":"bytes","instances":[{"b64":"YQ=="}]}',
    '{"signature_name":"bytes","instances":[{"b64":"YQ"}]}',
    '{"signature_name":"bytes","instances":[{"b64":"!"}]}',
    '{"signature_name":"bytes","instances":[{"b64":""}]}',
    '{"signature_name":"bytes","instances":[{"b64":1}]}',
    '{"signature_name":"bytes","instances":[{"b64":"YQ==","x":1}]}',
    '{"signature_name":"bytes","instances":[1]}',
    '{"signature_name":"bytes","instances":[["a"]]}',
    '{"signature_name":"bytes","inputs":["a","b"]}',
    '{"signature_name":"bytes","inputs":{"b64":"YQ=="}}',
    '{"signature_name":"bytes","inputs":[]}',
    '{"signature_name":"scalar","inputs":"one two"}',
    '{"signature_name":"scalar","instances":["a"]}',
    '{"signature_name":"bytes","instances":["\\u0000\\u00e9\\ud83d\\ude00"]}',
    '{"signature_name":"bytes","instances":[{"data_bytes":"a"}]}',
    '{"signature_name":"bytes","instances":[{"data_bytes":{"b64":"//79"}}]}',
  ),
  ...[
    ['int64', '[9223372036854775807,-9223372036854775808]'],
    ['int64', '[9223372036854775808]'],
    ['int64', '[1.0]'],
    ['int64', '[1e2]'],
    ['int32', '[2147483648]'],
    ['int32', '[-2147483648]'],
    ['int8', '[300]'],
    ['int8', '[-129]'],
    ['uint8', '[-1]'],
    ['uint8', '[256]'],
    ['uint16', '[1]'],
    ['uint32', '[4294967295]'],
    ['uint32', '[-1]'],
    ['uint64', '[18446744073709551615]'],
    ['uint64', '[-1]'],
    ['bool', '[true,false]'],
    ['bool', '[1]'],
    ['bool', '["true"]'],
    ['float16', '[1.5]'],
    ['bfloat16', '[1.5]'],
    ['float64', '[0.1,1e300,5e-324,1e-310]'],
    ['float64', '[1e309]'],
    ['float32', '[0.1,16777217,1e-45,1e-38]'],
  ].flatMap(([signature, values]) =>
    rows('dtypes', `{"signature_name":"${signature}","inputs":${values}}`),
  ),
  ...rows(
    'default_inputs',
    '{"inputs":[1]}',
    '{"instances":[1]}',
    '{"inputs":{"x":[1],"scale":3,"offset":1}}',
  ),
  ...rows(
    'shapes',
    '{"signature_name":"fixed","inputs":[[1,2,3],[4,5,6]]}',
    '{"signature_name":"fixed","inputs":[[1,2,3]]}',
    '{"signature_name":"fixed","instances":[[1,2,3],[4,5,6]]}',
    '{"signature_name":"dynamic","instances":[[[1,2,3]],[[4,5,6]]]}',
    '{"signature_name":"dynamic","inputs":[[[1,2,3]]]}',
    '{"signature_name":"dynamic","inputs":[[]]}',
  ),
  ...[
    '',
    '{}',
    '[]',
    '{"examples":[]}',
    '{"examples":{}}',
    '{"examples":[1]}',
    '{"examples":[{}]}',
    '{"examples":[{"x":1}]}',
    '{"examples":[{"x":[1,2]}]}',
    '{"examples":[{"x":"a"}]}',
    '{"examples":[{"x":true}]}',
    '{"examples":[{"x":null}]}',
    '{"examples":[{"x":[1,"a"]}]}',
    '{"examples":[{"x":[]}]}',
    '{"examples":[{"x":[[1]]}]}',
    '{"examples":[{"x":{"b64":"YQ=="}}]}',
    '{"context":{"x":1},"examples":[{}]}',
    '{"context":1,"examples":[{}]}',
    '{"context":{"x":1}}',
    '{"instances":[1]}',
    '{"examples":[{"x":1}],"more":1}',
    '{"examples":[{"x":1},{"x":2.5}]}',
    '{"examples":[{"x":1,"y":2}]}',
    '{"examples":[{"x":9223372036854775808}]}',
  ].flatMap((body) => {
    const named = (signature: string) =>
      body.startsWith('{')
        ? body.replace('{', `{"signature_name":"${signature}"${body === '{}' ? '' : ','}`)
        : body;
    return [
      rest('POST', `${HALF}:classify`, named('classify_x_to_y')),
      rest('POST', `${HALF}:regress`, named('regress_x_to_y')),
    ];
  }),
  rest('POST', `${HALF}:classify`, '{"examples":[{"x":1}]}'),
  rest('POST', `${HALF}:regress`, '{"signature_name":"classify_x_to_y","examples":[{"x":1}]}'),
  rest('POST', `${HALF}:classify`, '{"signature_name":"regress_x_to_y","examples":[{"x":1}]}'),
  rest('POST', '/v1/models/tf1_classifier:classify', '{"examples":[{"x":1}]}'),
];

type Configured = MessageInitShape<typeof ReloadConfigRequestSchema>['config'];
const configured = (...config: object[]): { config: Configured } => ({
  config: { config: { case: 'modelConfigList', value: { config } } } as Configured,
});

/** Reloads that are refused, so that the models stay as they are. */
const RELOADS: readonly OddCall[] = [
  reload('nothing at all', Buffer.alloc(0)),
  reload('an empty configuration', { config: {} }),
  reload('a model without a path', configured({ name: 'm', modelPlatform: 'tensorflow' })),
  reload(
    'a path that is not absolute',
    configured({ name: 'm', basePath: 'a/b', modelPlatform: 'tensorflow' }),
  ),
  reload(
    'two models of one name',
    configured(
      { name: 'm', basePath: '/a', modelPlatform: 'tensorflow' },
      { name: 'm', basePath: '/b', modelPlatform: 'tensorflow' },
    ),
  ),
  reload('a model without a platform', configured({ name: 'm', basePath: '/a' })),
  reload('another platform', configured({ name: 'm', basePath: '/a', modelPlatform: 'other' })),
  reload(
    'a type and a platform',
    configured({ name: 'm', basePath: '/a', modelPlatform: 'tensorflow', modelType: 1 }),
  ),
  reload('another type', configured({ name: 'm', basePath: '/a', modelType: 2 })),
];

/** All of them, in an order in which none changes the answers to the next. */
export const ODD_CALLS: readonly OddCall[] = [
  ...PREDICTS,
  ...EXAMPLES,
  ...INFORMATION,
  ...REST,
  ...RELOADS,
];
