import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WARMUP_PATH } from '@sagemaker-tfs/libtensorflow/warmup-file';
import type { PreprocessInput } from '@sagemaker-tfs/manifest';
import { type NumericTensor, stringTensor } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { layOut } from '../archive/lay-out.ts';
import { examplePng } from '../samples/png.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import { readWarmup, type WarmupOption } from './warmup.ts';

const EXPORTS = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'tf1-exports');
const scratch = useScratch();

async function warmupOf(name: string, warmup: WarmupOption, preprocess?: PreprocessInput) {
  const source = fixtureModel(name).directory;
  const content = { source, warmup, ...(preprocess && { preprocess }) };
  const { directory } = await layOut(content, scratch.path('out'));
  return readWarmup(`${directory}/${fixtureModel(name).version}`);
}

test('a sample becomes a request of its signature', async () => {
  const body = { signature_name: 'bytes', instances: [{ b64: 'AAEC' }, { b64: '' }] };
  const sample = scratch.write('sample.json', JSON.stringify(body));
  expect(await warmupOf('strings', [sample])).toEqual([
    {
      signature: 'bytes',
      inputs: { data_bytes: stringTensor([2], [Buffer.from([0, 1, 2]), Buffer.alloc(0)]) },
    },
  ]);
});

test('no request is made up for a signature that changes the model', async () => {
  const source = join(EXPORTS, 'counter', '1');
  const made = await layOut({ source, warmup: true }, scratch.path('out'));
  expect(readWarmup(`${made.directory}/1`)).toEqual([{ signature: 'get_counter', inputs: {} }]);
  const sample = scratch.write('sample.json', '{"signature_name": "incr_counter_by", "inputs": 1}');
  const { directory } = await layOut({ source, warmup: [sample] }, scratch.path('sampled'));
  expect(readWarmup(`${directory}/1`)).toMatchObject([{ signature: 'incr_counter_by' }]);
});

test('a picture becomes pixels of the model’s size, as declared', async () => {
  const picture = scratch.write('gradient.png', examplePng(64, 48));
  const pixelsOf = async (preprocess?: PreprocessInput) => {
    const [request] = await warmupOf('image_nchw', [picture], preprocess);
    if (!request) throw new Error('no request');
    const { dtype, shape, bytes } = request.inputs.pixels as NumericTensor;
    expect({ dtype, shape }).toEqual({ dtype: 'float32', shape: [1, 3, 24, 32] });
    return new Float32Array(bytes.slice().buffer);
  };
  const plane = 24 * 32;
  const rgb = await pixelsOf();
  expect(rgb.subarray(2 * plane)).toEqual(new Float32Array(plane).fill(128));
  expect(rgb[31]).toBeGreaterThan(240);
  rmSync(scratch.path('out'), { recursive: true });
  const bgr = await pixelsOf({ channels: 'bgr', offset: 1 });
  expect(bgr.subarray(0, plane)).toEqual(new Float32Array(plane).fill(129));
  expect(bgr[2 * plane + 31]).toBe(1 + (rgb[31] as number));
});

test.each([
  [
    'a picture that is none',
    'cat.jpg',
    'JPEG',
    'image_nchw',
    /cat\.jpg does not fit the model: .*JPEG/,
  ],
  [
    'a picture for what takes none',
    'cat.jpg',
    'JPEG',
    'half_plus_two',
    /cannot be fed with images/,
  ],
  [
    'a body that only the runtime reads',
    'x.csv',
    '1,2',
    'half_plus_two',
    /text\/csv is not tensors yet/,
  ],
  ['a handler’s own JSON', 'x.json', '{"a":1}', 'half_plus_two', /has no input 'a'. It has x/],
])('%s is refused', async (_, name, content, model, message) => {
  const work = warmupOf(model, [scratch.write(name, content)]);
  await expect(work).rejects.toThrow(withCode('BAD_SAMPLE'));
  await expect(work).rejects.toThrow(message);
});

test('an encoded picture is sent as it is to a model that decodes it', async () => {
  const picture = scratch.write('cat.jpg', 'JPEG');
  const [request] = await warmupOf('tiles', [picture]);
  expect(request?.inputs.image_bytes).toEqual(stringTensor([1], [readFileSync(picture)]));
});

test('true makes one request for each signature, none of tf.Example', async () => {
  const all = await warmupOf('tf1_classifier', true);
  expect(all.map(({ signature }) => signature)).toEqual(['raw']);
});

test('where none can be made up, the reasons are reported', async () => {
  const none = warmupOf('sparse_input', true);
  await expect(none).rejects.toThrow(withCode('BAD_OPTION'));
  await expect(none).rejects.toThrow(/signature 'serving_default': input '.*' is a sparse/);
});

test('a warm-up file of the source is kept unless new requests are given', async () => {
  const model = scratch.model('half_plus_two', 'half/1');
  scratch.write(`half/1/${WARMUP_PATH}`, new Uint8Array());
  await layOut({ source: model }, scratch.path('kept'));
  expect(readWarmup(scratch.path('kept/1'))).toEqual([]);
  await layOut({ source: model, warmup: true }, scratch.path('new'));
  expect(readWarmup(scratch.path('new/1')).length).toBeGreaterThan(0);
});

test('a damaged file is reported by its path', () => {
  const file = scratch.write(`1/${WARMUP_PATH}`, Buffer.from([200, 0, 0, 0, 0, 0, 0, 0, 1]));
  expect(() => readWarmup(scratch.path('1'))).toThrow(withCode('CORRUPT_FILE'));
  expect(() => readWarmup(scratch.path('1'))).toThrow(file);
});
