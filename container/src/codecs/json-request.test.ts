import { type DType, type ElementValue, type Signature, toNested } from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { failureOf } from '../testing/serving-failure.ts';
import { jsonRequest } from './json-request.ts';
import { decodeContext, nestedOf, signatureOf } from './test-signatures.ts';
import { decodeExample } from './tf-example.ts';

const vector = signatureOf({ x: ['float32', [-1, 2]] });
const scalar = signatureOf({ x: ['float32', [-1]] });
const image = signatureOf({ x: ['float32', [-1, 2, 2]] });
const two = signatureOf({ a: ['int64', [-1]], b: ['string', [-1, -1]] });

async function decode(body: string, signature: Signature) {
  const context = decodeContext(signature, 'application/json');
  const decoded = await jsonRequest.decode(Buffer.from(body), context);
  return { ...decoded, inputs: nestedOf(decoded.inputs) };
}

const failure = failureOf(decode);

describe("TensorFlow Serving's forms", () => {
  test('row: instances of the only input', async () => {
    expect(await decode('{"instances": [[1, 2], [3.5, -4e1]]}', vector)).toEqual({
      inputs: {
        x: [
          [1, 2],
          [3.5, -40],
        ],
      },
      form: 'row',
    });
  });

  test('row: instances by name', async () => {
    const body =
      '{"instances": [{"a": 1, "b": ["x", {"b64": "/w=="}]}, {"b": ["y", "z"], "a": 2}]}';
    expect((await decode(body, two)).inputs).toEqual({
      a: [1n, 2n],
      b: [
        [Buffer.from('x'), Buffer.from([0xff])],
        [Buffer.from('y'), Buffer.from('z')],
      ],
    });
  });

  test('row: base64 of an only string input, with and without a name', async () => {
    const text = signatureOf({ image_bytes: ['string', [-1]] });
    const expected = { image_bytes: [Buffer.from('hi')] };
    expect((await decode('{"instances": [{"b64": "aGk="}]}', text)).inputs).toEqual(expected);
    expect(
      (await decode('{"instances": [{"image_bytes": {"b64": "aGk="}}]}', text)).inputs,
    ).toEqual(expected);
  });

  test('columnar: the only input, or by name', async () => {
    expect(await decode('{"inputs": [[1, 2]]}', vector)).toEqual({
      inputs: { x: [[1, 2]] },
      form: 'columnar',
    });
    expect((await decode('{"inputs": {"a": [7], "b": [["q"]]}}', two)).inputs).toEqual({
      a: [7n],
      b: [[Buffer.from('q')]],
    });
  });

  test('signature_name is handed on; another signature than this one is left to its own decoding', async () => {
    const same = '{"signature_name": "serving_default", "instances": [[1, 2]]}';
    expect(await decode(same, vector)).toMatchObject({
      signatureName: 'serving_default',
      inputs: { x: [[1, 2]] },
    });
    const other = '{"signature_name": "other", "instances": [{"unknown": 1}]}';
    expect(await decode(other, vector)).toEqual({
      signatureName: 'other',
      inputs: {},
      form: 'row',
    });
    expect((await failure('{"signature_name": 3, "inputs": 1}', vector)).message).toContain(
      'signature_name',
    );
  });

  test('integers are exact to 64 bits', async () => {
    const body = '{"inputs": {"a": [9223372036854775807, -9223372036854775808, 9007199254740993]}}';
    expect((await decode(body, two)).inputs).toEqual({
      a: [9223372036854775807n, -9223372036854775808n, 9007199254740993n],
    });
  });

  test('NaN and infinities may be bare', async () => {
    const { inputs } = await decode('{"instances": [[NaN, -Infinity]]}', vector);
    expect(inputs).toEqual({ x: [[Number.NaN, Number.NEGATIVE_INFINITY]] });
  });
});

test('a signature without inputs takes none', async () => {
  expect(await decode('{"inputs": {}}', signatureOf({}))).toEqual({ inputs: {}, form: 'columnar' });
});

describe('examples', () => {
  const classify = signatureOf({ inputs: ['string', [-1]] });

  test("become serialized tf.Examples; a number's writing decides its type", async () => {
    const body =
      '{"context": {"site": "s"}, "examples": [{"i": 1, "f": [1.0, 2.0], "e": 1e3, "t": ["é \\"1.0\\"", {"b64": "AA=="}], "yes": true}]}';
    const { inputs } = await decode(body, classify);
    const [bytes] = inputs.inputs as Buffer[];
    const features = decodeExample(bytes as Buffer, DEFAULT_DECODE_LIMITS) ?? {};
    const shown = Object.fromEntries(
      Object.entries(features).map(([name, tensor]) => [name, [tensor.dtype, toNested(tensor)]]),
    );
    expect(shown).toEqual({
      site: ['string', [Buffer.from('s')]],
      i: ['int64', [1n]],
      f: ['float32', [1, 2]],
      e: ['float32', [1000]],
      t: ['string', [Buffer.from('é "1.0"'), Buffer.from([0])]],
      yes: ['int64', [1n]],
    });
  });

  test('are inputs by name where the signature takes no serialized examples', async () => {
    const body = '{"examples": [{"a": 1, "b": ["x"]}, {"a": 2, "b": ["y"]}]}';
    expect((await decode(body, two)).inputs).toEqual({
      a: [1n, 2n],
      b: [[Buffer.from('x')], [Buffer.from('y')]],
    });
  });

  test('that are no dictionaries are refused', async () => {
    expect((await failure('{"examples": []}', classify)).message).toContain('"examples"');
    expect((await failure('{"examples": [3]}', classify)).message).toContain('examples[0]');
    expect((await failure('{"examples": [{"a": [1, "x"]}]}', classify)).message).toContain(
      'examples[0].a[1]',
    );
    for (const body of ['{"examples": [1.5]}', '{"context": 1.5, "examples": [{}]}']) {
      expect((await failure(body, classify)).message).toContain('must be an object of features');
    }
  });

  test.each([
    ['[1, 2.5]', 'a[1] is of type float'],
    ['[1.5, 2]', 'a[1] is of type int64'],
    ['[1.0, true]', 'a[1] is of type int64'],
    ['[Infinity, 1]', 'a[1] is of type int64'],
    ['[1, NaN]', 'a[1] is of type float'],
    ['["x", 1]', 'a[1] is of type int64'],
    ['[1, {"b64": "AA=="}]', 'a[1] is of type bytes'],
    ['null', 'a[0]: null is no value'],
    ['[1, null]', 'a[1]: null is no value'],
    ['[[1.5, 2.5]]', 'a[0]: a list is no value'],
    ['[[1]]', 'a[0]: a list is no value'],
    ['["x", ["y"]]', 'a[1]: a list is no value'],
    ['{"\\u0000float": 2}', 'a[0]: an object is no value'],
    ['[{"value": 2.5}]', 'a[0]: an object is no value'],
    ['[{}]', 'a[0]: an object is no value'],
    ['"\\ud83d"', 'a[0]: half a surrogate pair'],
  ])('a feature holds values of one kind: %s is refused', async (values, message) => {
    for (const signature of [classify, two]) {
      for (const body of [
        `{"examples": [{"a": ${values}}]}`,
        `{"context": {"a": ${values}}, "examples": [{}]}`,
      ]) {
        const { message: said } = await failure(body, signature);
        expect(said).toContain(message);
        expect(said).not.toContain('\u0000');
      }
    }
  });

  test('a name with half a surrogate pair is refused', async () => {
    const { message } = await failure('{"examples": [{"x\\udc00": 1}]}', classify);
    expect(message).toContain('examples[0]: a name has half a surrogate pair');
  });

  test('an empty list is a feature of no kind, wherever it stands', async () => {
    const empty = Buffer.from('0a070a050a01781200', 'hex');
    for (const body of [
      '{"examples": [{"x": []}]}',
      '{"context": {"x": []}, "examples": [{}]}',
      '{"context": {"x": [1]}, "examples": [{"x": []}]}',
    ]) {
      expect((await decode(body, classify)).inputs.inputs).toEqual([empty]);
    }
  });
});

test.each<[DType, string, ElementValue[]]>([
  ['int64', '1.0', [1n]],
  ['int64', '[16777217.0, -3e2]', [16777217n, -300n]],
  ['float64', '[0.1, 1e300]', [0.1, 1e300]],
  ['float32', '[0.1, 2.0]', [Math.fround(0.1), 2]],
  ['float32', '[1, true]', [1, 1]],
  ['bool', '[0, 1]', [false, true]],
  ['bool', '[true, false]', [true, false]],
  ['bool', '[1.0, 0.0]', [true, false]],
])('examples for %s: %s is taken as it is', async (dtype, value, taken) => {
  const width = Math.max(1, value.split(',').length);
  const signature = signatureOf({ x: [dtype, [-1, width]] });
  expect((await decode(`{"examples": [{"x": ${value}}]}`, signature)).inputs.x).toEqual([taken]);
});

test.each<[DType, string, string]>([
  ['int64', '1.5', 'whose value 1.5 at index 0 int64 cannot hold'],
  ['bool', '[1, 2]', 'whose value 2 at index 1 bool cannot hold'],
  ['float32', '1e300', 'whose value 1e+300 at index 0'],
])('examples for %s: %s is refused, and named', async (dtype, value, part) => {
  const signature = signatureOf({ x: [dtype, [-1, value.split(',').length]] });
  expect((await failure(`{"examples": [{"x": ${value}}]}`, signature)).message).toContain(part);
});

test.each<[string, number[], number[]]>([
  ['{"instances": [[], []]}', [-1, -1, 2], [2, 0, 2]],
  ['{"instances": [[[]], [[]]]}', [-1, 1, -1, 3], [2, 1, 0, 3]],
  ['{"instances": [{"x": []}]}', [-1, -1, 2, -1], [1, 0, 2, 0]],
  ['{"inputs": [[], []]}', [-1, -1, 2], [2, 0, 2]],
  ['{"inputs": {"x": [[], []]}}', [-1, -1, 2], [2, 0, 2]],
  ['{"instances": [[], []]}', [-1, -1], [2, 0]],
  ['{"instances": [[], []]}', [-1, 3], [2, 0]],
])('%s for %j: below an empty list are the sizes of the signature', async (body, shape, sizes) => {
  for (const dtype of ['float32', 'string'] as const) {
    const context = decodeContext(signatureOf({ x: [dtype, shape] }), 'application/json');
    const { inputs } = await jsonRequest.decode(Buffer.from(body), context);
    expect(inputs.x?.shape).toEqual(sizes);
  }
});

describe('examples in several documents', () => {
  const classify = signatureOf({ inputs: ['string', [-1]] });
  const lines =
    '{"context": {"s": "a"}, "examples": [{"x": 1.0}, {"x": 2}]}\n{"examples": [{"x": 3}]}\n';

  test('come one after the other, each with the context of its document', async () => {
    const together = await Promise.all(
      [
        '{"examples": [{"s": "a", "x": 1.0}]}',
        '{"examples": [{"s": "a", "x": 2}]}',
        '{"examples": [{"x": 3}]}',
      ].map((body) => decode(body, classify)),
    );
    expect(await decode(lines, classify)).toEqual({
      inputs: { inputs: together.flatMap(({ inputs }) => inputs.inputs) },
      form: 'row',
    });
  });

  test('are inputs by name where the signature takes no serialized examples', async () => {
    const body = '{"examples": [{"a": 1, "b": ["x"]}]} {"examples": [{"a": 2, "b": ["y"]}]}';
    expect((await decode(body, two)).inputs.a).toEqual([1n, 2n]);
  });

  test('are instances where the signature has such an input, but for dictionaries', async () => {
    const text = signatureOf({ examples: ['string', [-1, 1]] });
    const body = '{"examples": [{"b64": "aGk="}]}\n{"examples": ["ho"]}';
    expect((await decode(body, text)).inputs).toEqual({
      examples: [[Buffer.from('hi')], [Buffer.from('ho')]],
    });
    const flat = signatureOf({ examples: ['string', [-1]] });
    expect((await decode(lines, flat)).inputs.examples).toHaveLength(3);
  });

  test('name one signature', async () => {
    const body = lines.replaceAll('{"examples"', '{"signature_name": "other", "examples"');
    expect(await decode(body.split('\n').slice(1).join('\n').repeat(2), classify)).toEqual({
      inputs: {},
      form: 'row',
      signatureName: 'other',
    });
    expect((await failure(body, classify)).message).toContain('several "signature_name"');
  });

  test.each([
    ['{"examples": [{"x": 1}]}\n{"x": 1}', 'document 1 has no list of "examples"'],
    ['{"examples": [{"x": 1}]}\n[1]', 'document 1 has no list of "examples"'],
    ['{"examples": [{"x": 1}]}\n{"examples": []}', 'document 1: "examples" must be a list'],
    ['{"examples": [{"x": 1}]}\n{"examples": [3]}', 'document 1: examples[0] must be an object'],
    ['{"examples": [{"x": 1}]}\n{"examples": [{"x": [1, 1.5]}]}', 'document 1: examples[0].x[1]'],
  ])('that do not fit are named: %s', async (body, message) => {
    expect(await failure(body, classify)).toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining(message),
    });
  });
});

describe('other JSON', () => {
  test('a list of lists is the instances', async () => {
    expect((await decode('[[1, 2], [3, 4], [5, 6]]', vector)).inputs).toEqual({
      x: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    });
  });

  test('anything else is one instance', async () => {
    expect((await decode('[1, 2]', vector)).inputs).toEqual({ x: [[1, 2]] });
    expect((await decode('3', scalar)).inputs).toEqual({ x: [3] });
    expect((await decode('{"a": 1, "b": ["x"]}', two)).inputs).toEqual({
      a: [1n],
      b: [[Buffer.from('x')]],
    });
  });

  test('the rank of the input decides where the rule cannot be meant', async () => {
    expect((await decode('[1, 2, 3]', scalar)).inputs).toEqual({ x: [1, 2, 3] });
    expect((await decode('[[1, 2], [3, 4]]', image)).inputs).toEqual({
      x: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    });
    expect((await decode('[{"a": 1, "b": ["x"]}, {"a": 2, "b": ["y"]}]', two)).inputs.a).toEqual([
      1n,
      2n,
    ]);
  });

  test.each([
    ['lines', '[1, 2]\n[3, 4]\n'],
    ['lines with CRLF and empty ones', '[1, 2]\r\n\r\n[3, 4]\r\n'],
    ['documents one after the other', '[1,2][3,4]'],
    ['documents over several lines', '[1,\n2]\n[3,\n4]'],
  ])('several documents are one instance each: %s', async (_, body) => {
    expect((await decode(body, vector)).inputs).toEqual({
      x: [
        [1, 2],
        [3, 4],
      ],
    });
  });

  test('several objects by name', async () => {
    const body = '{"a": 1, "b": ["x"]}\n{"a": 2, "b": ["y"]}';
    expect((await decode(body, two)).inputs.a).toEqual([1n, 2n]);
  });
});

describe('bad input names its place', () => {
  test.each([
    ['', vector, 'the body is empty'],
    ['  \n ', vector, 'the body is empty'],
    ['{"instances": [[1, 2]', vector, 'the body: '],
    ['nonsense', vector, 'line 1'],
    ['{"instances": [[1, "x"]]}', vector, 'instances[0][1]'],
    ['{"instances": [[1, 2], [3]]}', vector, 'instances[1]'],
    ['{"instances": 3}', vector, '"instances" must be a list'],
    ['{"instances": []}', vector, '"instances" has no instances'],
    ['{"instances": [[1, 2], {"x": [1, 2]}]}', vector, 'instances[1] is an object'],
    ['{"instances": [{"a": 1, "b": ["x"]}, {"a": 2}]}', two, "instances[1] lacks 'b'"],
    ['{"instances": [{"a": 1}, {"a": 2, "b": 3}]}', two, "instances[1] has 'b'"],
    ['{"instances": [{"a": 1}, 2]}', two, 'instances[1] must be an object'],
    ['{"instances": [{"a": 1}, {"a": 1.5}]}', two, 'instances[1].a'],
    ['{"instances": [{"a": 1, "b": ["x"]}, {"a": 1, "b": [1]}]}', two, 'instances[1].b[0]'],
    ['{"instances": [1]}', two, 'has 2 inputs (a, b)'],
    ['{"inputs": {"a": 9223372036854775808}}', two, 'inputs.a'],
    ['{"inputs": {}}', two, '"inputs" is empty'],
    ['{"inputs": [1], "instances": [1]}', vector, 'not both'],
    ['[1, 2]\n[3, "x"]', vector, 'document[1][1]'],
    ['null', vector, 'instance[0]'],
  ])('%s', async (body, signature, part) => {
    const error = await failure(body, signature);
    expect(error.status).toBe(400);
    expect(error.message).toContain(part);
  });

  test('an input that the signature lacks is named with those it has', async () => {
    for (const body of ['{"inputs": {"c": 1}}', '{"instances": [{"c": 1}]}', '{"c": 1}']) {
      const error = await failure(body, two);
      expect(error.code).toBe('UNKNOWN_INPUT');
      expect(error.message).toContain("no input 'c'. It has a, b");
    }
    expect((await failure('{"instances": [{"__proto__": 1}]}', two)).code).toBe('UNKNOWN_INPUT');
  });

  test('nesting without end is refused, not followed', async () => {
    for (const body of ['['.repeat(100_000), `${'['.repeat(5000)}1${']'.repeat(5000)}`]) {
      expect((await failure(body, vector)).status).toBe(400);
    }
  });
});

test('integers: 1.0 is 1, and what the dtype cannot hold is refused, not wrapped', async () => {
  const context = decodeContext(signatureOf({ x: ['uint8', [-1]] }), 'application/json');
  const { inputs } = await jsonRequest.decode(Buffer.from('{"instances": [1.0, 2e0]}'), context);
  expect(inputs.x).toMatchObject({ dtype: 'uint8', bytes: Uint8Array.of(1, 2) });
  for (const value of ['300', '-1', '1.5']) {
    const body = Buffer.from(`{"instances": [${value}]}`);
    await expect(jsonRequest.decode(body, context)).rejects.toMatchObject({ code: 'BAD_INPUT' });
  }
});

test.each(['int64', 'uint64'] as const)(
  '%s beyond 2^53: all digits, as the refusal of an exponent says',
  async (dtype) => {
    const context = decodeContext(signatureOf({ x: [dtype, [-1]] }), 'application/json');
    const digits = Buffer.from('{"instances": [1000000000000000001]}');
    const { inputs } = await jsonRequest.decode(digits, context);
    const bytes = new Uint8Array(BigInt64Array.of(1000000000000000001n).buffer);
    expect(inputs.x).toMatchObject({ dtype, bytes });
    for (const value of ['1e18', '1000000000000000001.0']) {
      const body = Buffer.from(`{"instances": [${value}]}`);
      await expect(jsonRequest.decode(body, context)).rejects.toThrow(
        'in JSON write all digits, without a point or an exponent',
      );
    }
  },
);
