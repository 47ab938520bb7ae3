import type { Manifest } from '@sagemaker-tfs/manifest';
import type { InspectReport } from '@sagemaker-tfs/model-packaging';
import { styleOf } from '../output/style.ts';
import type { RunningRuntime } from '../serving/runtime-process.ts';
import { exchangeLine, readyLines } from './serve-lines.ts';

const styled = (width: number) => ({ ...styleOf({} as NodeJS.WriteStream), width });
const RUNTIME = {
  modelServer: { kind: 'local-model-server' },
  startMilliseconds: 900,
} as RunningRuntime;

/** A model as `inspect` reports it. */
function reportOf(dtype: string, shape: number[]): InspectReport {
  const tensor = (name: string) => ({ dtype, shape, tensorName: `${name}:0` });
  const serving_default = {
    methodName: 'tensorflow/serving/predict',
    inputs: { x: tensor('x') },
    outputs: { y: tensor('y') },
  };
  const graph = { tags: ['serve'], signatures: { serving_default } };
  const versions = [{ version: '1', metaGraphs: [graph] }];
  return { source: 'm', models: [{ name: 'm', versions }] } as unknown as InspectReport;
}

/** Everything above inputs and outputs, of a model with these versions. */
const factsOf = (versions: string[], width: number) => {
  const { models, ...report } = reportOf('float32', [-1]);
  const graph = { ...models[0]?.versions[0]?.metaGraphs[0], tensorflowVersion: '2.21.0-rc1' };
  const made = versions.map((version) => ({ version, metaGraphs: [graph] }));
  const served = { ...report, models: [{ name: 'm', versions: made }] } as unknown as InspectReport;
  const lines = readyLines(served, (name) => name, undefined, RUNTIME, styled(width));
  return lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('  in ')),
  );
};

test('how long the start took is never cut, however long the versions are', () => {
  expect(factsOf(['1'], 80)).toEqual([
    '✓ m v1 · saved by TensorFlow 2.21.0-rc1 · local stand-in · ready in 0.9 s',
  ]);
  expect(factsOf(['1738108800', '1738108801'], 80)).toEqual([
    '✓ m v1738108800, v1738108801 · saved by TensorFlow 2.21.0-rc1 · local stand-in',
    '  ready in 0.9 s',
  ]);
  expect(factsOf(['1738108800'], 40)).toEqual([
    '✓ m v1738108800',
    '  saved by TensorFlow 2.21.0-rc1',
    '  local stand-in · ready in 0.9 s',
  ]);
  const many = factsOf(
    Array.from({ length: 20 }, (_, at) => String(1738108800 + at)),
    40,
  );
  expect(many[0]).toBe('✓ m v1738108800, v1738108801,');
  expect(many.join(' ')).toContain('v1738108819');
  expect(many.at(-1)).toContain('ready in 0.9 s');
  expect(Math.max(...many.map((line) => line.length))).toBeLessThanOrEqual(40);
});

const linesOf = (shape: number[], manifest?: object, dtype = 'float32') =>
  readyLines(
    reportOf(dtype, shape),
    (name) => name,
    manifest as Manifest | undefined,
    RUNTIME,
    styled(80),
  ).slice(3);

test('a model of pictures says what its input gets, and where that is changed', () => {
  const lines = linesOf([-1, 16, 24, 3]);
  expect(lines[0]).toBe('  pic  x: RGB, stretched to 24x16, values 0 to 255');
  expect(lines[1]).toContain('package --preprocess');
  expect(lines).toHaveLength(2);
});

test('what was declared is shown without advice, and a handler speaks for itself', () => {
  const preprocess = {
    ...{ resize: 'stretch', padding: 0, interpolation: 'bilinear' },
    ...{ antialias: false, shrink: false, scale: 1 / 255 },
  };
  expect(linesOf([-1, 16, 16, 3], { preprocess })).toEqual([
    '  pic  x: RGB, stretched to 16x16, values 0 to 1',
  ]);
  expect(linesOf([-1, 16, 16, 3], { handler: 'code/inference.mjs' })).toEqual([]);
  expect(linesOf([-1])).toEqual([]);
});

describe('in a terminal of 40 columns', () => {
  const exchange = {
    ...{
      at: new Date(0),
      method: 'POST',
      path: '/invocations',
      contentType: 'application/x-image',
    },
    ...{ requestBytes: 1_234, responseBytes: 321, milliseconds: 5.2, status: 200 },
  };
  test('sizes and time of a request stay', () => {
    const line = exchangeLine(exchange as Parameters<typeof exchangeLine>[0], styled(40));
    expect(line).toMatch(/ {2}200 {2}1\.2 kB→0\.3 kB {2}5\.20 ms$/);
    expect(line.length).toBeLessThanOrEqual(40);
  });
  test('an error is whole', () => {
    const error = { code: 'BAD_IMAGE', message: 'not an image: send JPEG, PNG or WebP' };
    const failed = { ...exchange, status: 400, error } as Parameters<typeof exchangeLine>[0];
    expect(exchangeLine(failed, styled(40)).split('\n').slice(1)).toEqual([
      '    not an image: send JPEG, PNG or WebP',
    ]);
  });
  test('in 80 columns it takes as many lines as it has, below its own beginning', () => {
    const of = (message: string) => {
      const error = { code: 'BAD_IMAGE', message };
      const failed = { ...exchange, status: 400, error } as Parameters<typeof exchangeLine>[0];
      return exchangeLine(failed, styled(80)).split('\n');
    };
    const lines = of(
      '5 bytes that begin with 68656c6c (hex) are no image. Send JPEG, PNG, WebP, GIF or TIFF.',
    );
    expect(lines.map((line) => line.slice(15))).toEqual([
      'BAD_IMAGE   5 bytes that begin with 68656c6c (hex) are no image.',
      '            Send JPEG, PNG, WebP, GIF or TIFF.',
    ]);
    const long = of('word '.repeat(100));
    for (const line of [...lines, ...long]) expect(line.length).toBeLessThanOrEqual(80);
    expect(long.join(' ').match(/word/g)).toHaveLength(100);
  });
});
