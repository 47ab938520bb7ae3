/** `tfs-method`, signatures, versions and labels: TensorFlow Serving's answers, the same over both transports. */
import {
  encodeTfRecord,
  type NumericTensor,
  type StringTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
  typedArray,
} from '@sagemaker-tfs/tensors';
import {
  fixtureModel,
  type Golden,
  type GoldenCase,
  loadGoldens,
} from '../../test/fixtures/index.ts';
import { encodeExample } from './codecs/tf-example-writer.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const classifier = fixtureModel('tf1_classifier');

const start = useRuntimes();
let runtime: RuntimeProcess;
beforeAll(async () => {
  const copies = {
    classifier: classifier.basePath,
    half_plus_two: fixtureModel('half_plus_two').basePath,
  };
  runtime = await start(
    { copies },
    {
      SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
      SAGEMAKER_TFS_VERSION_LABELS: 'stable=1,canary=2',
    },
  );
});

interface Answer {
  readonly status: number;
  readonly body: { readonly results?: unknown; readonly error?: string; readonly code?: string };
  /** The answer's custom attributes. */
  readonly attributes: string | null;
}

async function ask(
  attributes: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': JSON_TYPE,
      'X-Amzn-SageMaker-Custom-Attributes': attributes,
      ...headers,
    },
  });
  return {
    status: response.status,
    body: (await response.json()) as Answer['body'],
    attributes: response.headers.get('X-Amzn-SageMaker-Custom-Attributes'),
  };
}

/** The one answer of both transports. */
async function askBoth(...[attributes, ...rest]: Parameters<typeof ask>): Promise<Answer> {
  const [grpc, overRest] = await Promise.all([
    ask(`tfs-transport=grpc,${attributes}`, ...rest),
    ask(`tfs-transport=rest,${attributes}`, ...rest),
  ]);
  expect(overRest).toEqual(grpc);
  return grpc;
}

/** Inputs and outputs of the first golden case, whose two tf.Examples {@link EXAMPLES} are. */
function golden(signature: string): { records: readonly Uint8Array[]; outputs: TensorMap } {
  const found = loadGoldens(classifier).find((candidate) => candidate.signature === signature);
  const [first] = (found as Golden).cases;
  const { inputs, outputs } = first as GoldenCase;
  return { records: (inputs.inputs as StringTensor).values, outputs: outputs as TensorMap };
}

function numbers(tensor: Tensor | undefined): number[] {
  return Array.from(typedArray(tensor as NumericTensor), Number);
}

const JSON_TYPE = 'application/json';
const EXAMPLES =
  '"examples": [{"size": [1.0, 2.0], "count": 3, "color": "red"}, {"size": [0.0, -1.0], "color": {"b64": "Ymx1ZQ=="}}]';
const CLASSIFY = 'tfs-model-name=classifier,tfs-method=classify';
const REGRESS = 'tfs-model-name=classifier,tfs-method=regress';

describe('classify', () => {
  const { records, outputs } = golden('serving_default');
  const labels = (outputs.classes as StringTensor).values.map((label) =>
    Buffer.from(label).toString(),
  );
  const scores = numbers(outputs.scores);

  test.each<[string, string | Uint8Array, string, string]>([
    ['feature dictionaries', `{${EXAMPLES}}`, CLASSIFY, JSON_TYPE],
    [
      'a signature named in the body',
      `{"signature_name": "serving_default", ${EXAMPLES}}`,
      CLASSIFY,
      JSON_TYPE,
    ],
    [
      'a signature named in the attributes',
      `{${EXAMPLES}}`,
      `${CLASSIFY},tfs-signature=serving_default`,
      JSON_TYPE,
    ],
    [
      'TFRecords of tf.Examples',
      Buffer.concat(records.flatMap((record) => encodeTfRecord(record))),
      CLASSIFY,
      'application/x-tfrecord',
    ],
  ])('%s: a list of [label, score] for each example', async (_name, body, attributes, type) => {
    const answer = await askBoth(attributes, body, { 'Content-Type': type });
    expect(answer).toMatchObject({ status: 200, attributes: 'tfs-model-version=1' });
    expect(Object.keys(answer.body)).toEqual(['results']);
    const results = answer.body.results as [string, number][][];
    expect(results.map((row) => row.length)).toEqual([3, 3]);
    expect(results.flat().map(([label]) => label)).toEqual(labels);
    for (const [i, [, score]] of results.flat().entries()) {
      expect(score).toBeCloseTo(scores[i] as number, 5);
    }
  });

  test('an example of megabytes, with features that the model does not read', async () => {
    const known = records[0] as Uint8Array;
    const text = stringTensor([1], ['x'.repeat(2 ** 21)]);
    // Of a message that is written twice, the fields are joined.
    const large = Buffer.concat([known, encodeExample({ notes: text })]);
    const [small, joined] = await Promise.all(
      [known, large].map((record) =>
        askBoth(CLASSIFY, Buffer.concat(encodeTfRecord(record)), {
          'Content-Type': 'application/x-tfrecord',
        }),
      ),
    );
    expect(joined).toEqual(small);
    expect(joined?.status).toBe(200);
    const cut = await askBoth(CLASSIFY, Buffer.concat(encodeTfRecord(large.subarray(0, -1))), {
      'Content-Type': 'application/x-tfrecord',
    });
    expect(cut).toMatchObject({ status: 400, body: { code: 'BAD_INPUT' } });
  });

  test('features that all examples share stand in "context"', async () => {
    const shared = '{"context": {"color": "red"}, "examples": [{"size": [1.0, 2.0]}]}';
    const each = '{"examples": [{"size": [1.0, 2.0], "color": "red"}]}';
    const answer = await askBoth(CLASSIFY, shared);
    expect(answer.status).toBe(200);
    expect(answer).toEqual(await askBoth(CLASSIFY, each));
  });

  test('classes without labels have the empty label, as TensorFlow Serving has it', async () => {
    const answer = await askBoth(
      'tfs-method=classify,tfs-signature=classify_x_to_y',
      '{"examples": [{"x": 1.0}, {"x": [4.0]}]}',
    );
    expect(answer.body).toEqual({ results: [[['', 3.5]], [['', 5]]] });
  });
});

describe('regress', () => {
  const { outputs } = golden('regression');

  test.each([
    ['in the attributes', `{${EXAMPLES}}`, `${REGRESS},tfs-signature=regression`],
    ['in the body', `{"signature_name": "regression", ${EXAMPLES}}`, REGRESS],
  ])('a number for each example; the signature is named %s', async (_where, body, attributes) => {
    const answer = await askBoth(attributes, body);
    expect(answer).toMatchObject({ status: 200, attributes: 'tfs-model-version=1' });
    const results = answer.body.results as number[];
    const expected = numbers(outputs.outputs);
    expect(results).toHaveLength(expected.length);
    for (const [i, value] of results.entries()) expect(value).toBeCloseTo(expected[i] as number, 5);
  });

  test.each([
    ['the newest version', '', 3.5, 2],
    ['a version', ',tfs-model-version=1', 2.5, 1],
    ['a version with leading zeros', ',tfs-model-version=001', 2.5, 1],
    ['a label', ',tfs-model-label=stable', 2.5, 1],
    ['another label', ',tfs-model-label=canary', 3.5, 2],
  ])('%s answers', async (_name, which, result, version) => {
    const body = '{"signature_name": "regress_x_to_y", "examples": [{"x": 1.0}]}';
    expect(await askBoth(`tfs-method=regress${which}`, body)).toEqual({
      status: 200,
      body: { results: [result] },
      attributes: `tfs-model-version=${version}`,
    });
  });

  test('Accept: application/jsonlines gives the answer on one line', async () => {
    const response = await fetch(`${runtime.url}/invocations`, {
      method: 'POST',
      body: '{"signature_name": "regress_x_to_y2", "examples": [{"x": 1.0}, {"x": 2.0}]}',
      headers: {
        Accept: 'application/jsonlines',
        'Content-Type': 'application/json',
        'X-Amzn-SageMaker-Custom-Attributes': 'tfs-method=regress',
      },
    });
    expect(response.headers.get('Content-Type')).toBe('application/jsonlines');
    expect(await response.text()).toBe('{"results":[4.5,5.0]}\n');
  });
});

test('a label that is not there, an output and a picture as example have codes of their own', async () => {
  const label = await ask('tfs-model-label=nobody', '{"instances": [1.0]}');
  expect(label).toMatchObject({ status: 404, body: { code: 'MODEL_NOT_FOUND' } });
  const output = await ask('tfs-outputs=nobody', '{"instances": [1.0]}');
  expect(output).toMatchObject({ status: 400, body: { code: 'UNKNOWN_OUTPUT' } });
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  for (const type of ['image/png', 'application/x-image']) {
    const picture = await ask('tfs-method=regress', png, { 'Content-Type': type });
    expect(picture.body.error).toContain('is a picture');
    expect(picture).toMatchObject({ status: 400, body: { code: 'BAD_INPUT' } });
  }
});

describe('errors are the same over both transports', () => {
  test.each<[string, string, string, number, RegExp]>([
    [
      'a required feature is missing',
      CLASSIFY,
      '{"examples": [{"count": 3}]}',
      400,
      /Feature: size \(data type: float\) is required but could not be found/,
    ],
    [
      'a signature of another method',
      'tfs-method=classify,tfs-signature=regress_x_to_y',
      '{"examples": [{"x": 1.0}]}',
      400,
      /[Cc]lassif/,
    ],
    [
      'a signature that is not there',
      'tfs-method=regress,tfs-signature=nobody',
      '{"examples": [{"x": 1.0}]}',
      400,
      /"?nobody/,
    ],
    [
      'a signature of the body that is not there',
      'tfs-method=regress',
      '{"signature_name": "nobody", "examples": [{"x": 1.0}]}',
      400,
      /nobody/,
    ],
    ['no examples', CLASSIFY, '{"examples": []}', 400, /examples/],
    ['a body of another form', CLASSIFY, '{"instances": [1.0]}', 400, /examples|not a string/],
    [
      'a label that is not there',
      `tfs-method=regress,tfs-signature=regress_x_to_y,tfs-model-label=nobody`,
      '{"examples": [{"x": 1.0}]}',
      404,
      /Unrecognized servable version label: nobody/,
    ],
    [
      'a version that is not there',
      `tfs-method=regress,tfs-signature=regress_x_to_y,tfs-model-version=7`,
      '{"examples": [{"x": 1.0}]}',
      404,
      /7/,
    ],
    [
      'an output that is not there',
      'tfs-outputs=nobody',
      '{"instances": [1.0]}',
      400,
      /has no output 'nobody'. It has y/,
    ],
  ])('%s', async (_name, attributes, body, status, message) => {
    const [grpc, rest] = await Promise.all(
      ['grpc', 'rest'].map((transport) => ask(`tfs-transport=${transport},${attributes}`, body)),
    );
    expect(grpc).toMatchObject({ status, body: { error: expect.stringMatching(message) } });
    expect(rest).toMatchObject({ status, body: { error: expect.stringMatching(message) } });
  });
});

describe('a malformed tf.Example', () => {
  const [whole] = golden('serving_default').records as [Uint8Array];
  const field = (number: number, content: Uint8Array | string) =>
    Buffer.concat([Buffer.from([number * 8 + 2, content.length]), Buffer.from(content)]);
  const inFeature = (list: Uint8Array, name: Uint8Array | string = 'size') =>
    field(1, field(1, Buffer.concat([field(1, name), field(2, list)])));
  const malformed: [string, Uint8Array][] = [
    ['bytes without a meaning', Buffer.from('ffffff', 'hex')],
    ['text', Buffer.from('no example')],
    ['a field 0', Buffer.from('0000', 'hex')],
    ['an open group', Buffer.from('0b', 'hex')],
    ['a length beyond the end', Buffer.from('0a7f00', 'hex')],
    ['a field number beyond 29 bits', Buffer.from('f8ffffff7f00', 'hex')],
    ['a name that is not UTF-8', inFeature(field(2, ''), Buffer.from('ff', 'hex'))],
    ['half a float', inFeature(field(2, field(1, 'abcdef')))],
    ['half an integer', inFeature(field(3, field(1, Buffer.from('80', 'hex'))))],
    ['an integer of 11 bytes', inFeature(field(3, field(1, Buffer.alloc(11, 0x80))))],
    ['an example that is cut short', whole.subarray(0, -1)],
  ];

  test.each(['classify', 'regress'])('is refused by %s, the same over both', async (method) => {
    const model = 'tfs-model-name=classifier';
    const signature = method === 'regress' ? ',tfs-signature=regression' : '';
    const attributes = `${model},tfs-method=${method}${signature}`;
    for (const [what, bytes] of malformed) {
      const b64 = Buffer.from(bytes).toString('base64');
      const instances = `{"instances": [{"b64": "${Buffer.from(whole).toString('base64')}"}, {"b64": "${b64}"}]}`;
      const record = Buffer.concat([...encodeTfRecord(whole), ...encodeTfRecord(bytes)]);
      const answers = await Promise.all([
        askBoth(attributes, instances),
        askBoth(attributes, record, { 'Content-Type': 'application/x-tfrecord' }),
      ]);
      for (const { status, body } of answers) {
        expect([what, status, body]).toEqual([
          what,
          400,
          { code: 'BAD_INPUT', error: expect.stringMatching(/example 1 .*tf\.Example/) },
        ]);
      }
    }
  });

  test('one without features is an example', async () => {
    const answer = await askBoth(
      'tfs-method=regress,tfs-signature=regress_x_to_y',
      '{"instances": [{"b64": ""}, {"b64": "CgA="}]}',
    );
    expect(answer).toMatchObject({ status: 400, body: { code: 'MODEL_FAILED' } });
    expect(answer.body.error).toMatch(/Feature: x .* is required/);
  });
});
