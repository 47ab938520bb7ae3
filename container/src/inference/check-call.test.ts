import { postprocessSchema } from '@sagemaker-tfs/manifest';
import {
  numericTensor,
  type Signature,
  stringTensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { requireSignature } from '../models/choose-signature.ts';
import { checkCall, checkCarried, checkOutputs, withoutLastOnes } from './check-call.ts';

const spec = (dtype: 'float32' | 'string', shape: readonly number[] | undefined, more = {}) => ({
  tensorName: 't:0',
  dtype,
  dtypeEnum: dtype === 'string' ? 7 : 1,
  shape,
  ...more,
});

function signature(inputs: Signature['inputs'], outputs: Signature['outputs'] = {}): Signature {
  return { key: 'serving_default', methodName: '', inputs, outputs };
}

function floats(...shape: number[]) {
  const count = shape.reduce((product, size) => product * size, 1);
  return numericTensor('float32', shape, new Float32Array(count));
}

function refusal(target: Signature, inputs: TensorMap): ServingError {
  try {
    checkCall(target, inputs);
  } catch (error) {
    expect(error).toBeInstanceOf(ServingError);
    expect((error as ServingError).status).toBe(400);
    return error as ServingError;
  }
  throw new Error('it was taken');
}

const image = signature({ image: spec('float32', [-1, 28, 28, 1]) });

describe('what TensorFlow would be handed', () => {
  test('fits as it is, and is the same object', () => {
    const inputs = { image: floats(2, 28, 28, 1) };
    expect(checkCall(image, inputs)).toEqual({ inputs, isFlat: false });
    expect(checkCall(image, inputs).inputs).toBe(inputs);
  });

  test.each([
    ['another rank', floats(1)],
    ['a scalar', floats()],
    ['too many dimensions', floats(1, 1, 28, 28, 1)],
    ['another size', floats(1, 28, 27, 1)],
    ['other channels', floats(1, 28, 28, 3)],
    ['no rows', floats(0, 28, 28, 1)],
    ['an empty list', floats(0)],
    ['empty rows', floats(1, 0)],
    ['another type', stringTensor([1], ['text'])],
  ])('%s is refused with what the input takes and what it got', (_what, tensor) => {
    const { code, message } = refusal(image, { image: tensor });
    expect(code).toBe('BAD_INPUT');
    expect(message).toContain(
      `input 'image' of signature 'serving_default' takes float32 [N, 28, 28, 1], got ${tensor.dtype} [${tensor.shape.join(', ')}]`,
    );
  });

  test('an unknown name, a missing one, none at all', () => {
    expect(refusal(image, { nope: floats(1) })).toMatchObject({ code: 'UNKNOWN_INPUT' });
    expect(
      refusal(image, { image: floats(1, 28, 28, 1), __proto__x: floats(1) }).message,
    ).toContain('__proto__x');
    const two = signature({ a: spec('float32', [-1]), b: spec('float32', [-1]) });
    expect(refusal(two, { a: floats(1) }).message).toContain("takes 'b' (float32 [N])");
    expect(refusal(two, {}).message).toContain('no inputs');
    const odd = JSON.parse('{"toString": 1}') as Record<string, unknown>;
    expect(refusal(image, { ...odd, image: floats(1, 28, 28, 1) } as never).code).toBe(
      'UNKNOWN_INPUT',
    );
  });

  test('an output that the signature lacks', () => {
    const { outputs } = image;
    expect(() => checkOutputs(image, Object.keys(outputs))).not.toThrow();
    expect(() => checkOutputs(image, ['constructor'])).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_OUTPUT', status: 400 }),
    );
  });

  test('an output that the archive leaves out, or does not answer beside detections', () => {
    const x = spec('float32', [-1]);
    const target = signature({}, { a: x, b: x, raw: x });
    const refused = (asked: string[] | undefined, declared: object) => {
      try {
        checkOutputs(target, asked, postprocessSchema.parse(declared));
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    const boxes = { boxes: { boxes: 'a', scores: 'b', classes: 'b' } };
    expect(refused(['b', 'raw'], boxes)).toBeUndefined();
    expect(refused(['a', 'raw', 'b'], boxes)).toBe(
      "the archive answers no output 'raw' beside the detections that it makes of a, b. Ask for it without one of these.",
    );
    expect(refused(['raw'], { outputs: ['a', 'b'] })).toBe(
      "the archive answers no output 'raw' of signature 'serving_default'. It answers a, b.",
    );
    expect(refused(['a'], { outputs: ['logits'], rename: { logits: 'scores' } })).toContain(
      'answers (scores)',
    );
    // Whether outputs are named or not: no name helps.
    for (const asked of [undefined, ['a'], ['nope']]) {
      expect(refused(asked, { outputs: ['logits'] })).toBe(
        "signature 'serving_default' has none of the outputs that the archive answers (logits). Call another signature.",
      );
    }
  });

  test('an output of a dtype that is not carried is refused unless others are named', () => {
    const c = { tensorName: 'c:0', dtype: undefined, dtypeEnum: 8, shape: [-1] };
    const target = signature({}, { abs: spec('float32', [-1]), c });
    const refused = expect.objectContaining({
      status: 400,
      message: expect.stringContaining(
        'output "c" of signature "serving_default" is of DT_COMPLEX64, which is not supported',
      ),
    });
    expect(() => checkCarried(target)).toThrow(refused);
    expect(() => checkCarried(target, ['abs', 'c'])).toThrow(refused);
    expect(() => checkCarried(target, ['abs'])).not.toThrow();
  });

  test('an input with a default may be missing', () => {
    const target = signature({
      x: spec('float32', [-1]),
      scale: spec('float32', [], { hasDefault: true }),
    });
    expect(checkCall(target, { x: floats(3) }).isFlat).toBe(false);
  });

  test('a tensor whose bytes do not fill its shape', () => {
    const short = {
      dtype: 'float32' as const,
      shape: [2, 28, 28, 1],
      bytes: new Uint8Array(28 * 28 * 4),
    };
    expect(refusal(image, { image: short }).message).toContain('needs 6272 bytes, got 3136');
    const strings = signature({ s: spec('string', [-1]) });
    const few = { dtype: 'string' as const, shape: [3], values: [new Uint8Array(1)] };
    expect(refusal(strings, { s: few }).message).toContain('needs 3 values, got 1');
  });

  test('shapes that are none', () => {
    const any = signature({ x: spec('float32', undefined) });
    for (const shape of [[-1], [1.5], [2 ** 40, 2 ** 40, 0], [Number.NaN]]) {
      refusal(any, { x: { dtype: 'float32', shape, bytes: new Uint8Array(0) } });
    }
    const deep = {
      dtype: 'float32' as const,
      shape: new Array(255).fill(1),
      bytes: new Uint8Array(4),
    };
    expect(refusal(any, { x: deep }).message).toContain('255 sizes');
  });

  test('an empty tensor whose other sizes are huge', () => {
    const any = signature({ x: spec('float32', undefined), s: spec('string', undefined) });
    const fine = { x: floats(1000, 0, 3), s: stringTensor([2 ** 20, 0], []) };
    expect(checkCall(any, fine).isFlat).toBe(false);
    expect(checkCall(any, fine, 2 ** 20).isFlat).toBe(false);
    expect(refusal(any, { ...fine, x: floats(30_000_000, 0, 0, 3) }).message).toContain(
      'multiply to 90000000. At most 1048576',
    );
    expect(refusal(any, { ...fine, x: floats(1, 0, 1e8) }).code).toBe('BAD_INPUT');
    expect(refusal(any, { ...fine, s: stringTensor([1e8, 0], []) }).code).toBe('BAD_INPUT');
    expect(() => checkCall(any, fine, 2999)).toThrow('SAGEMAKER_TFS_MAX_STRINGS');
  });

  test('an unknown rank takes any shape but no rows', () => {
    const any = signature({ x: spec('float32', undefined) });
    for (const tensor of [floats(), floats(1), floats(2, 3, 4, 5), floats(2, 0)]) {
      expect(checkCall(any, { x: tensor }).isFlat).toBe(false);
    }
    expect(refusal(any, { x: floats(0, 3) }).message).toContain('no rows');
  });

  test('values of ragged rows may be none where there are rows', () => {
    const ragged = signature({ values: spec('float32', [-1]), splits: spec('float32', [-1]) });
    expect(checkCall(ragged, { values: floats(0), splits: floats(3) }).isFlat).toBe(false);
    expect(refusal(ragged, { values: floats(0), splits: floats(0) }).message).toContain('no rows');
    const scaled = signature({ x: spec('float32', [-1]), scale: spec('float32', []) });
    expect(refusal(scaled, { x: floats(0), scale: floats() }).message).toContain('no rows');
  });

  test('open dimensions behind the batch may be empty; a batch of 0 only where the signature says so', () => {
    const words = signature({ words: spec('string', [-1, -1]) });
    expect(checkCall(words, { words: stringTensor([2, 0], []) }).isFlat).toBe(false);
    const none = signature({ x: spec('float32', [0, 3]) });
    expect(checkCall(none, { x: floats(0, 3) }).isFlat).toBe(false);
  });
});

describe('sizes of 1 at the end', () => {
  const column = signature(
    { x: spec('float32', [-1, 1]) },
    { y: spec('float32', [-1, 1]), z: spec('float32', [-1, 3]) },
  );

  test('may be left out, and then are in the answer too', () => {
    const { inputs, isFlat } = checkCall(column, { x: floats(5) });
    expect(isFlat).toBe(true);
    expect(inputs.x?.shape).toEqual([5, 1]);
    const outputs = withoutLastOnes({ y: floats(5, 1), z: floats(5, 3) }, column);
    expect([outputs.y?.shape, outputs.z?.shape]).toEqual([[5], [5, 3]]);
  });

  test('a scalar is no batch of one', () => {
    expect(refusal(column, { x: floats() }).message).toContain('got float32 []');
  });

  test('a row for an input that has none: how one value is sent', () => {
    const scalars = signature({ n: spec('float32', []), name: spec('string', []) });
    expect(refusal(scalars, { n: floats(1) }).message).toContain(
      'got float32 [1]. It takes one value for a request, in JSON {"inputs": {"n": ..., "name": ...}}',
    );
    expect(refusal(scalars, { n: floats(1, 1) }).message).not.toContain('"inputs"');
    expect(refusal(column, { x: floats() }).message).not.toContain('"inputs"');
  });

  test('pictures without their one channel', () => {
    expect(checkCall(image, { image: floats(2, 28, 28) }).inputs.image?.shape).toEqual([
      2, 28, 28, 1,
    ]);
  });
});

test('the signatures that a model has are listed in one order', () => {
  const named = (key: string) => ({ key, methodName: '', inputs: {}, outputs: {} });
  const listed = /has no signature "c"\. It has a, b, d\./;
  for (const keys of ['bda', 'dab']) {
    const signatures = Object.fromEntries([...keys].map((key) => [key, named(key)]));
    expect(() => requireSignature(signatures, 'c', 'm')).toThrow(listed);
    expect(() => requireSignature(signatures, 'c', 'm')).toThrow(/^model "m" has/);
    // Its user gave an only model another name, or none.
    expect(() => requireSignature(signatures, 'c', 'model')).toThrow(/^the model has/);
  }
});
