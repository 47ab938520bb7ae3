import { preprocessSchema } from '@sagemaker-tfs/manifest';
import {
  type DType,
  isNumeric,
  type NumericTensor,
  type Signature,
  toNested,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { imagesToTensors } from './image-to-tensor.ts';
import { gradient, plain } from './test-pictures.ts';

function signatureOf(dtype: DType, shape: readonly number[], name = 'image'): Signature {
  const spec = { tensorName: `${name}:0`, dtype, dtypeEnum: 0, shape };
  return { key: 'serving_default', methodName: '', inputs: { [name]: spec }, outputs: {} };
}

const limits = { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: 1e8, maxImagePixels: 1e7 };
const colors = () => plain(6, 4, 255, 128, 0).png().toBuffer();

async function tensorOf(
  images: readonly Uint8Array[],
  signature: Signature,
  declaration: object = {},
): Promise<NumericTensor> {
  const preprocess = preprocessSchema.parse(declaration);
  const tensors = await imagesToTensors(images, { signature, preprocess, limits });
  const tensor = tensors.image;
  if (!tensor || !isNumeric(tensor)) throw new Error('no numeric tensor');
  return tensor;
}

describe('shape and layout', () => {
  test('NHWC and NCHW follow the signature', async () => {
    const nhwc = await tensorOf([await colors()], signatureOf('uint8', [-1, 2, 3, 3]));
    expect(nhwc.shape).toEqual([1, 2, 3, 3]);
    expect(Array.from(nhwc.bytes.subarray(0, 6))).toEqual([255, 128, 0, 255, 128, 0]);
    const nchw = await tensorOf([await colors()], signatureOf('uint8', [-1, 3, 2, 3]), {
      layout: 'NCHW',
    });
    expect(nchw.shape).toEqual([1, 3, 2, 3]);
    expect(Array.from(nchw.bytes)).toEqual([
      ...new Array(6).fill(255),
      ...new Array(6).fill(128),
      ...new Array(6).fill(0),
    ]);
  });

  test('gray for one channel, with and without its dimension', async () => {
    const four = await tensorOf([await colors()], signatureOf('uint8', [-1, 2, 5, 1]));
    expect(four.shape).toEqual([1, 2, 5, 1]);
    const three = await tensorOf([await colors()], signatureOf('uint8', [-1, 2, 5]));
    expect(three.shape).toEqual([1, 2, 5]);
    expect(three.bytes).toEqual(four.bytes);
  });

  test('one picture for an input without a batch, never several', async () => {
    const batch = await tensorOf([await colors()], signatureOf('uint8', [-1, 4, 6, 3]));
    for (const shape of [
      [-1, -1, 3],
      [4, 6, 3],
    ]) {
      const signature = signatureOf('uint8', shape);
      const one = await tensorOf([await colors()], signature);
      expect(one.shape).toEqual([4, 6, 3]);
      expect(one.bytes).toEqual(batch.bytes);
      const two = [await colors(), await colors()];
      await expect(tensorOf(two, signature)).rejects.toMatchObject({
        code: 'BAD_INPUT',
        message: expect.stringContaining('exactly 1 image a request, got 2'),
      });
    }
  });

  test.each([
    [[], 1, []],
    [[-1], 2, [2]],
    [[-1, 1], 2, [2, 1]],
    [[-1, -1], 2, [2, 1]],
    [undefined, 2, [2]],
    [[], 2, 'takes one scalar, got 2 images'],
    [[3], 2, 'takes exactly 3 instances, got 2 images'],
    [[-1, 3], 1, 'takes instances of [3], got 1 images'],
    [[-1, -1, -1], 1, 'whose sizes flat values cannot tell'],
  ])('encoded pictures for a string input %j: %d', async (shape, count, expected) => {
    const images = Array.from({ length: count }, (_, at) => Buffer.from([at]));
    const signature = signatureOf('string', shape as number[]);
    const made = imagesToTensors(images, { signature, preprocess: undefined, limits });
    if (typeof expected === 'string') {
      await expect(made).rejects.toMatchObject({
        code: 'BAD_INPUT',
        message: expect.stringContaining(expected),
      });
    } else {
      expect(await made).toEqual({ image: { dtype: 'string', shape: expected, values: images } });
    }
  });

  test("a model of any size gets the picture's own, or the declared one", async () => {
    const any = signatureOf('uint8', [-1, -1, -1, 3]);
    expect((await tensorOf([await colors()], any)).shape).toEqual([1, 4, 6, 3]);
    expect((await tensorOf([await colors()], any, { size: [5, 7] })).shape).toEqual([1, 5, 7, 3]);
  });

  test('many images are one batch in their order', async () => {
    const images = await Promise.all(
      Array.from({ length: 25 }, (_, at) =>
        plain(30, 20, at * 10, 0, 0)
          .png()
          .toBuffer(),
      ),
    );
    for (const declaration of [{}, { interpolation: 'lanczos3' }]) {
      const batch = await tensorOf(images, signatureOf('uint8', [-1, 4, 4, 3]), declaration);
      expect(batch.shape).toEqual([25, 4, 4, 3]);
      for (let at = 0; at < 25; at++) expect(batch.bytes[at * 48]).toBe(at * 10);
    }
  });

  test('many images of their own size are one batch where they agree', async () => {
    const signature = signatureOf('float32', [-1, -1, -1, 3]);
    const images = [await colors(), await colors(), await colors()];
    expect((await tensorOf(images, signature)).shape).toEqual([3, 4, 6, 3]);
    const odd = [...images, await plain(5, 4, 0, 0, 0).png().toBuffer()];
    await expect(tensorOf(odd, signature)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining('image 3 is 5 x 4, the first is 6 x 4'),
    });
  });
});

describe('values', () => {
  test.each<[DType, object, unknown]>([
    ['uint8', {}, [255, 128, 0]],
    ['int8', { offset: -128 }, [127, 0, -128]],
    ['int32', {}, [255, 128, 0]],
    ['int64', {}, [255n, 128n, 0n]],
    ['float32', {}, [255, 128, 0]],
    [
      'float32',
      { scale: 1 / 127.5, offset: -1 },
      [1, Math.fround(Math.fround(128 * Math.fround(1 / 127.5)) - 1), -1],
    ],
    ['float64', { scale: 1 / 255 }, [1, 128 / 255, 0]],
    ['float16', { scale: 1 / 256 }, [0.99609375, 0.5, 0]],
    ['bfloat16', { scale: 1 / 256 }, [0.99609375, 0.5, 0]],
    ['float32', { scale: [1, 2, 3], offset: [0, 1, 2] }, [255, 257, 2]],
    ['float32', { channels: 'bgr' }, [0, 128, 255]],
    [
      'float32',
      { mean: [0.5, 0.25, 0], std: [0.5, 0.25, 2] },
      [1, Math.fround(Math.fround(128 / 255) - 0.25) / 0.25, 0],
    ],
  ])('%s with %j', async (dtype, declaration, expected) => {
    for (const [shape, layout] of [
      [[-1, 2, 2, 3], 'NHWC'],
      [[-1, 3, 2, 2], 'NCHW'],
    ] as const) {
      const tensor = await tensorOf([await colors()], signatureOf(dtype, shape), {
        ...declaration,
        layout,
      });
      const numbers = Array.from<number | bigint>(toNumbers(tensor));
      const stride = layout === 'NHWC' ? 1 : 4;
      const pixel = [numbers[0], numbers[stride], numbers[2 * stride]];
      expect(pixel).toEqual(expected);
    }
  });

  test('DT_STRING inputs take the encoded images as they are', async () => {
    const images = [await colors(), await gradient(9, 9).jpeg().toBuffer()];
    for (const [shape, expected] of [
      [[-1], [2]],
      [
        [-1, 1],
        [2, 1],
      ],
    ] as const) {
      const signature = signatureOf('string', shape);
      const { image } = await imagesToTensors(images, { signature, limits });
      expect(image?.shape).toEqual(expected);
      expect(toNested(image as NumericTensor)).toEqual(
        expected.length === 1 ? images : images.map((bytes) => [bytes]),
      );
    }
  });
});

describe('bad input', () => {
  test('a bad picture of many is named', async () => {
    const images = [await colors(), Buffer.from('not a picture'), await colors()];
    for (const shape of [
      [-1, 4, 4, 3],
      [-1, -1, -1, 3],
    ]) {
      await expect(tensorOf(images, signatureOf('uint8', shape))).rejects.toMatchObject({
        code: 'BAD_IMAGE',
        message: expect.stringMatching(/^image 1: /),
      });
    }
  });

  test('a signature that takes no pictures says why', async () => {
    const signature = signatureOf('float32', [-1, 10]);
    await expect(imagesToTensors([await colors()], { signature, limits })).rejects.toMatchObject({
      status: 415,
      message: expect.stringContaining("signature 'serving_default' cannot be fed with images"),
    });
  });

  test('a signature of several inputs is answered once with what it takes instead', async () => {
    const { inputs, ...signature } = signatureOf('float32', [-1, 10]);
    const [input] = Object.values(inputs);
    const two = { ...signature, inputs: { a: input, b: input } } as Signature;
    await expect(
      imagesToTensors([await colors()], { signature: two, limits }),
    ).rejects.toMatchObject({
      status: 415,
      message:
        "signature 'serving_default' cannot be fed with images: the signature has 2 inputs (a, b). None of them takes a picture. This archive declares no preprocess, which says how pictures become inputs. Without it send tensors (JSON or application/x-npz, which name inputs).",
    });
  });

  test('a fixed batch must be met', async () => {
    const signature = signatureOf('uint8', [1, 4, 4, 3]);
    await expect(tensorOf([await colors(), await colors()], signature)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining('takes exactly 1 image a request, got 2'),
    });
  });

  test('decoded bytes are bounded before memory is taken', async () => {
    const many = new Array(3000).fill(await colors());
    await expect(tensorOf(many, signatureOf('float32', [-1, 100, 100, 3]))).rejects.toMatchObject({
      status: 413,
    });
    const large = await plain(2000, 2000, 1, 2, 3).png().toBuffer();
    const preprocess = preprocessSchema.parse({});
    await expect(
      imagesToTensors([large], {
        signature: signatureOf('float32', [-1, -1, -1, 3]),
        preprocess,
        limits: { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: 1e6, maxImagePixels: 1e8 },
      }),
    ).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('(SAGEMAKER_TFS_MAX_DECODED_BYTES)'),
    });
  });

  test('nothing is decoded for a client that has gone', async () => {
    const signature = signatureOf('uint8', [-1, 4, 4, 3]);
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(imagesToTensors([await colors()], { signature, limits, signal })).rejects.toThrow(
      'gone',
    );
  });
});
