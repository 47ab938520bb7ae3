import type { Preprocess } from '@sagemaker-tfs/manifest';
import { pictureInput } from '../inspect/picture-input.ts';
import type { SignatureReport } from '../inspect/report.ts';
import { hasRawPixels, pictureText } from './picture-text.ts';

const taking = (dtype: string, shape: number[]): SignatureReport => ({
  methodName: 'tensorflow/serving/predict',
  inputs: { x: { dtype, shape, tensorName: 'x:0' } } as SignatureReport['inputs'],
  outputs: {},
});
const resolved = (dtype: string, shape: number[], declared?: Partial<Preprocess>) => {
  const picture = pictureInput('serving_default', taking(dtype, shape), declared as Preprocess);
  if (!picture) throw new Error('no picture fits');
  return picture;
};

const MEAN = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

test.each<[string, number[], Partial<Preprocess> | undefined, string, boolean]>([
  ['float32', [-1, 16, 24, 3], undefined, 'RGB, stretched to 24x16, values 0 to 255', true],
  ['uint8', [-1, 16, 24, 3], undefined, 'RGB, stretched to 24x16, values 0 to 255', false],
  ['float32', [-1, -1, -1, 3], undefined, 'RGB, in its own size, values 0 to 255', true],
  [
    'float32',
    [-1, 28, 28, 1],
    { scale: 1 / 255 },
    'gray, stretched to 28x28, values 0 to 1',
    false,
  ],
  ['string', [-1], undefined, 'the bytes as they are sent', false],
  [
    'float32',
    [-1, 3, 224, 224],
    { ...MEAN, resize: 'cover', layout: 'NCHW' },
    'RGB, cropped to 224x224, values -2.12 to 2.64',
    false,
  ],
  [
    'float32',
    [-1, 16, 16, 3],
    { scale: -2 / 255, offset: 1, channels: 'bgr', resize: 'contain' },
    'BGR, letterboxed to 16x16, values -1 to 1',
    false,
  ],
])('%s %j with %j: %s', (dtype, shape, declared, text, isRaw) => {
  const whole = declared && {
    resize: 'stretch',
    padding: 0,
    interpolation: 'bilinear',
    ...declared,
  };
  const picture = resolved(dtype, shape, whole as Partial<Preprocess> | undefined);
  expect(pictureText(picture)).toBe(text);
  expect(hasRawPixels(picture)).toBe(isRaw);
});
