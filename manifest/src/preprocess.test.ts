import type { DType, Signature } from '@sagemaker-tfs/tensors';
import { ManifestError, type PreprocessInput, parsePreprocess } from './index.ts';
import { checkPreprocess, resolvePreprocess } from './preprocess.ts';

function signature(
  inputs: Record<string, { dtype: DType | undefined; shape: number[] | undefined }>,
): Signature {
  const specs = Object.entries(inputs).map(([name, spec]) => [
    name,
    { tensorName: `${name}:0`, dtypeEnum: 0, ...spec },
  ]);
  return { key: 'serving_default', methodName: '', inputs: Object.fromEntries(specs), outputs: {} };
}

const image = (shape: number[] | undefined, dtype: DType = 'float32') =>
  signature({ image: { dtype, shape } });

const resolve = (declared: PreprocessInput, of: Signature) =>
  resolvePreprocess(parsePreprocess(declared), of);

describe('what is not declared comes from the signature', () => {
  test('size, channels and layout of [N,H,W,C]', () => {
    expect(resolvePreprocess(undefined, image([-1, 224, 192, 3]))).toEqual({
      bytes: false,
      input: 'image',
      dtype: 'float32',
      height: 224,
      width: 192,
      channels: 'rgb',
      layout: 'NHWC',
      channelDimension: true,
      batchDimension: true,
      resize: 'stretch',
      padding: 0,
      interpolation: 'bilinear',
      antialias: false,
      shrink: false,
      scale: [1, 1, 1],
      offset: [0, 0, 0],
    });
  });

  test('[N,C,H,W] where the second size is that of channels', () => {
    const resolved = resolvePreprocess(undefined, image([-1, 3, 24, 32]));
    expect(resolved).toMatchObject({ layout: 'NCHW', height: 24, width: 32, channels: 'rgb' });
  });

  test('gray pictures with and without a dimension for the channel', () => {
    const gray = { channels: 'gray', height: 28, width: 28, scale: [1] };
    expect(resolvePreprocess(undefined, image([-1, 28, 28, 1]))).toMatchObject({
      ...gray,
      channelDimension: true,
    });
    expect(resolvePreprocess(undefined, image([-1, 28, 28]))).toMatchObject({
      ...gray,
      channelDimension: false,
    });
  });

  test('[H,W,C] is one picture', () => {
    for (const shape of [
      [-1, -1, 3],
      [224, 224, 3],
      [3, 3, 3],
    ]) {
      expect(resolvePreprocess(undefined, image(shape))).toMatchObject({
        channels: 'rgb',
        channelDimension: true,
        batchDimension: false,
        height: shape[0] === -1 ? undefined : shape[0],
        width: shape[1] === -1 ? undefined : shape[1],
      });
    }
    expect(resolvePreprocess(undefined, image([-1, -1, 1]))).toMatchObject({ channels: 'gray' });
    expect(() => resolvePreprocess(undefined, image([-1, -1, 4]))).toThrow('has 4 channels');
  });

  test('[3,H,W] may be channels or a batch: only a declaration tells', () => {
    const unclear = image([3, 224, 192]);
    expect(() => resolvePreprocess(undefined, unclear)).toThrow('nor one picture ([H,W,C])');
    expect(resolve({ channels: 'gray' }, unclear)).toMatchObject({
      height: 224,
      width: 192,
      batchDimension: true,
    });
    for (const shape of [[], [-1], [-1, -1], [-1, -1, 2, 2, 3]]) {
      expect(() => resolvePreprocess(undefined, image(shape))).toThrow('neither a batch');
    }
  });

  test('a model that takes any size takes the picture as it is, or the declared size', () => {
    const open = image([1, -1, -1, 3], 'uint8');
    expect(resolvePreprocess(undefined, open)).toMatchObject({
      height: undefined,
      width: undefined,
    });
    expect(resolve({ size: [512, 640] }, open)).toMatchObject({ height: 512, width: 640 });
  });

  test('a string input takes the encoded picture', () => {
    const resolved = resolvePreprocess(undefined, image([-1], 'string'));
    expect(resolved).toEqual({ bytes: true, input: 'image' });
  });

  test('an input of unknown rank is taken for [N,H,W,C]', () => {
    const resolved = resolve({ size: [10, 20] }, image(undefined));
    expect(resolved).toMatchObject({ height: 10, width: 20, layout: 'NHWC', channels: 'rgb' });
  });
});

describe('scaling is folded into one scale and offset for each channel', () => {
  test('scale and offset', () => {
    const resolved = resolve({ scale: 1 / 127.5, offset: -1 }, image([-1, 8, 8, 3]));
    const third = 1 / 127.5;
    expect(resolved).toMatchObject({ scale: [third, third, third], offset: [-1, -1, -1] });
  });

  test('mean and std: (pixel / 255 - mean) / std', () => {
    const mean = [0.485, 0.456, 0.406];
    const std = [0.229, 0.224, 0.225];
    const resolved = resolve({ mean, std }, image([-1, 8, 8, 3]));
    if (resolved.bytes) throw new Error('pixels expected');
    expect(resolved.normalized).toEqual({ mean, std });
    mean.forEach((value, i) => {
      const deviation = std[i] as number;
      const pixel = 200;
      const folded = pixel * (resolved.scale[i] as number) + (resolved.offset[i] as number);
      expect(folded).toBeCloseTo((pixel / 255 - value) / deviation, 12);
    });
  });
});

describe('what does not fit names its field', () => {
  const rgb = image([-1, 8, 8, 3]);
  const two = signature({
    a: { dtype: 'float32', shape: [-1, 8, 8, 3] },
    b: { dtype: 'float32', shape: [-1] },
  });
  const cases: [string, PreprocessInput, Signature, string][] = [
    ['an input that is not there', { input: 'x' }, rgb, 'preprocess.input'],
    ['several inputs and none named', {}, two, 'preprocess.input'],
    ['a size that is not the model’s', { size: [9, 8] }, rgb, 'preprocess.size'],
    ['gray for three channels', { channels: 'gray' }, rgb, 'preprocess.channels'],
    ['rgb for one channel', { channels: 'rgb' }, image([-1, 8, 8, 1]), 'preprocess.channels'],
    ['four channels', {}, image([-1, 8, 8, 4]), 'preprocess.channels'],
    [
      'a layout that puts channels in the wrong place',
      { layout: 'NCHW' },
      rgb,
      'preprocess.channels',
    ],
    ['two values for three channels', { mean: [0, 0] }, rgb, 'preprocess.mean'],
    ['a deviation of zero', { std: 0 }, rgb, 'preprocess.std'],
    ['scale beside mean', { scale: 1, mean: 0.5 }, rgb, 'preprocess.scale'],
    ['an input that is no picture', {}, image([-1, 10]), 'preprocess.input'],
    ['a bool input', {}, image([-1, 8, 8, 3], 'bool'), 'preprocess.input'],
    [
      'a dtype that is not carried',
      {},
      signature({ x: { dtype: undefined, shape: [-1, 8, 8, 3] } }),
      'preprocess.input',
    ],
    [
      'pixels out of an integer’s range',
      { scale: 2 },
      image([-1, 8, 8, 3], 'uint8'),
      'preprocess.scale',
    ],
    [
      'pixels that all round to 0 or 1',
      { scale: 1 / 255 },
      image([-1, 8, 8, 3], 'uint8'),
      'preprocess.scale',
    ],
    [
      'a size where the model decodes itself',
      { size: [8, 8] },
      image([-1], 'string'),
      'preprocess.size',
    ],
  ];

  test('what an integer holds, but not apart, is no range that it cannot hold', () => {
    const [problem] = checkPreprocess(
      parsePreprocess({ scale: 1 / 255 }),
      image([-1, 8, 8, 3], 'uint8'),
    );
    expect(problem?.message).toMatch(
      /^pixels become 0 to 1, which uint8 of .* holds as 0 or 1 alone\./,
    );
  });

  test.each(cases)('%s', (_, declared, of, field) => {
    const [problem] = checkPreprocess(parsePreprocess(declared), of);
    expect(problem?.field).toBe(field);
    expect(() => resolve(declared, of)).toThrow(ManifestError);
    expect(() => resolve(declared, of)).toThrow(problem?.message);
  });

  test.each([
    [-128, true],
    [-128.5, true],
    [-127.6, true],
    [-128.6, false],
    [-127.5, false],
    [-129, false],
  ])('a quantized model may take shifted pixels, rounded halves up: %d', (offset, fits) => {
    const problems = checkPreprocess(parsePreprocess({ offset }), image([-1, 8, 8, 3], 'int8'));
    expect(problems.map(({ field }) => field)).toEqual(fits ? [] : ['preprocess.scale']);
  });

  test('a declaration with an unknown field', () => {
    const parse = () => parsePreprocess({ sise: [8, 8] });
    expect(parse).toThrow(ManifestError);
    expect(parse).toThrow("preprocess: unknown field 'sise'; did you mean 'size'?");
  });
});

test.each([
  [[-1, 28, 28, 1], 'Name the one that takes the picture.'],
  [undefined, 'Name the one that takes the picture.'],
  [[-1, 2], 'None of them takes a picture.'],
])('two inputs, one of shape %j: the message says whether one takes a picture', (shape, advice) => {
  const table = { dtype: 'float32', shape: [-1, 2] } as const;
  const two = signature({ a: { ...table, shape: [-1, 2] }, b: { dtype: 'float32', shape } });
  expect(() => resolve({}, two)).toThrow(advice);
});
