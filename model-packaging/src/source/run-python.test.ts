import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import type { PreprocessInput } from '@sagemaker-tfs/manifest';
import { numericTensor, stringTensor, typedArray } from '@sagemaker-tfs/tensors';
import { frameInPicture } from '@sagemaker-tfs/tensors/placement';
import sharp from 'sharp';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { layOut } from '../archive/lay-out.ts';
import type { ContentOptions } from '../plan/content.ts';
import { examplePng } from '../samples/png.ts';
import { useScratch, withCode } from '../testing/scratch.ts';

const scratch = useScratch();
const hasTensorFlow = spawnSync('python3', ['-c', 'import tensorflow']).status === 0;
const withTensorFlow = hasTensorFlow ? test : test.skip;
const reason = hasTensorFlow ? '' : ' (skipped: python3 has no tensorflow)';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

/** A `python3` without TensorFlow, and a program in place of Docker, or none. */
function useCommands(commands: Record<string, string>): void {
  for (const [name, script] of Object.entries(commands)) {
    chmodSync(scratch.write(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
  }
  process.env.PATH = scratch.path('bin');
  process.env.CDK_DOCKER = scratch.path('bin', 'docker');
}

const layOutTo = (options: ContentOptions) => layOut(options, scratch.path('out'));

describe('without Python TensorFlow', () => {
  const keras = () => layOutTo({ source: scratch.write('net.keras', 'x') });

  test('the message says what is missing and what to do', async () => {
    useCommands({ python3: 'echo "ModuleNotFoundError: No module named tensorflow" >&2; exit 1' });
    await expect(keras()).rejects.toThrow(withCode('PYTHON_TENSORFLOW'));
    await expect(keras()).rejects.toThrow(
      /net\.keras needs Python TensorFlow.*ModuleNotFoundError/,
    );
    await expect(keras()).rejects.toThrow(/pip install tensorflow/);
  });

  test('nor any Python', async () => {
    useCommands({});
    await expect(keras()).rejects.toThrow(/there is no python3, and there is no \S+docker to run/);
  });

  test.each([
    ['docker: Cannot connect to the Docker daemon. Is it running?', 125],
    ["docker: unknown command: 'run'", 127],
  ])('nor a Docker that runs: %s', async (words, status) => {
    const docker = `[ "$1" = --version ] && exit 0
echo "${words}

Run 'docker run --help' for more information" >&2; exit ${status}`;
    useCommands({ python3: 'echo "ImportError: no" >&2; exit 1', docker });
    const error = await keras().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PYTHON_TENSORFLOW' });
    expect((error as Error).message).toMatch(
      /needs Python TensorFlow, but python3 cannot import it \(ImportError: no\), and \S+docker cannot run tensorflow\/tensorflow:\S+ \(.*\)\. Run 'python3 -m pip/,
    );
    expect((error as Error).message).toContain(`(${words.replace('docker: ', '')})`);
    expect((error as Error).message).not.toContain('Python said');
  });

  test('a container does the work where there is Docker', async () => {
    const model = fixtureModel('strings').directory;
    const log = scratch.path('docker.log');
    // Finds the host folder behind /output among the volumes and puts a model there.
    const docker = `PATH=${process.env.PATH}
[ "$1" = --version ] && exit 0
echo "$@" > ${log}
for word in "$@"; do case "$word" in *:/output) cp -r ${model} "\${word%:/output}/1";; esac; done`;
    useCommands({ python3: 'exit 1', docker });
    const { manifest } = await keras();
    expect(manifest?.models).toMatchObject([{ name: 'net', versions: ['1'] }]);
    const words = readFileSync(log, 'utf8');
    expect(words).toMatch(
      /^run --rm .*tensorflow\/tensorflow:\S+ python3 \/scripts\/convert_keras\.py \/input\/net\.keras \/output\/1/,
    );
  });

  test('what Python says is reported if it fails', async () => {
    const python3 =
      '[ "$1" = -c ] && exit 0\necho "Traceback" >&2; echo "ValueError: bad file" >&2; exit 1';
    useCommands({ python3 });
    await expect(keras()).rejects.toThrow(withCode('CONVERSION_FAILED'));
    await expect(keras()).rejects.toThrow(/converting .*net\.keras failed: ValueError: bad file/);
  });
});

describe('with Python TensorFlow', () => {
  withTensorFlow.each(['keras', 'h5'])(`a .%s file is converted${reason}`, async (ending) => {
    const file = scratch.path(`net.${ending}`);
    const script = `import sys, tensorflow as tf
inputs = tf.keras.Input([3], name='x')
model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, kernel_initializer='ones')(inputs))
model.save(sys.argv[1])`;
    execFileSync('python3', ['-c', script, file], { stdio: 'ignore' });
    const { directory } = await layOutTo({ source: file });
    const session = await SavedModelSession.load(join(directory, '1'));
    const [input = ''] = Object.keys(session.signatures.serving_default?.inputs ?? {});
    const x = numericTensor('float32', [1, 3], new Float32Array([1, 2, 3]));
    const { outputs } = await session.run('serving_default', { [input]: x });
    const [y] = Object.values(outputs);
    if (y?.dtype !== 'float32') throw new Error('float32 expected');
    expect([...typedArray({ ...y, dtype: 'float32' })]).toEqual([6, 6]);
    await session.close();
  });

  withTensorFlow(`a model of pixels gets an input for encoded pictures${reason}`, async () => {
    const { directory, manifest } = await layOutTo({
      source: fixtureModel('image_nchw').directory,
      imageInput: { scale: 1 / 255 },
    });
    const { serving_default: signature, serving_tensors: inner } =
      manifest?.models[0]?.signatures ?? {};
    expect(signature?.inputs).toEqual({ image_bytes: { dtype: 'string', shape: [-1] } });
    expect(inner?.inputs.pixels?.shape).toEqual([-1, 3, 24, 32]);
    const session = await SavedModelSession.load(join(directory, '1'));
    const picture = stringTensor([2], [examplePng(32, 24), examplePng(64, 48)]);
    const { outputs } = await session.run('serving_default', { image_bytes: picture });
    const color = outputs.mean_color;
    if (color?.dtype !== 'float32') throw new Error('float32 expected');
    expect(color.shape).toEqual([2, 3]);
    const [red, green, blue] = typedArray({ ...color, dtype: 'float32' });
    expect(red).toBeCloseTo(0.48, 1);
    expect(green).toBeCloseTo(0.48, 1);
    expect(blue).toBeCloseTo(128 / 255, 3);
    await session.close();
  });

  withTensorFlow(`an image input resizes as it is declared${reason}`, async () => {
    // Columns of 0, 255, 255, 0: every sample between the middle two is 255, the mean of all is half of it.
    const [width, height] = [128, 96];
    const pixels = Buffer.alloc(width * height, Uint8Array.of(0, 255, 255, 0));
    const picture = await sharp(pixels, { raw: { width, height, channels: 1 } })
      .png()
      .toBuffer();
    const redWith = async (imageInput: PreprocessInput) => {
      const options = {
        source: fixtureModel('image_nchw').directory,
        imageInput: { scale: 1 / 255, ...imageInput },
      };
      const { directory } = await layOut(options, scratch.path(`out-${imageInput.antialias}`));
      const session = await SavedModelSession.load(join(directory, '1'));
      const { outputs } = await session.run('serving_default', {
        image_bytes: stringTensor([1], [picture]),
      });
      await session.close();
      const { mean_color: color } = outputs;
      if (color?.dtype !== 'float32') throw new Error('float32 expected');
      return typedArray({ ...color, dtype: 'float32' })[0];
    };
    expect(await redWith({})).toBeCloseTo(1, 3);
    expect(await redWith({ antialias: true })).toBeCloseTo(0.5, 1);
  });

  withTensorFlow(
    `pictures lie in the model’s frame as in the runtime, and boxes are those of the picture${reason}`,
    async () => {
      const [height, width] = [37, 53];
      const sizes = [
        [101, 77],
        [64, 48],
        [300, 200],
        [480, 640],
        [50, 31],
        [123, 457],
        [7, 300],
        [1, 1],
      ] as const;
      const settings = {
        ...{ signature: 'serving_default', input: 'image', dtype: 'float32', height, width },
        ...{ channels: 'rgb', layout: 'NHWC', channelDimension: true, padding: 0 },
        ...{ interpolation: 'bilinear', antialias: false, scale: [1, 1, 1], offset: [0, 0, 0] },
        boxes: 'regions',
      };
      // One process for all: starting TensorFlow takes longest.
      const script = `import json, sys
sys.path.insert(0, sys.argv[2])
import keras, numpy as np, tensorflow as tf, wrap_image_input
folder, size, settings = sys.argv[1], (${height}, ${width}), json.loads(sys.argv[3])
model = tf.Module()
boxes = tf.constant([[.1, .2, .3, .4], [0, .25, 1, 1.1]])
@tf.function(input_signature=[tf.TensorSpec([None, *size, 3], tf.float32, name='image')])
def serve(image):
    of_each = lambda values: tf.repeat(values[None], tf.shape(image)[0], 0)
    numbers = of_each(tf.constant([.9, .8]))
    return {'pixels': tf.identity(image), 'regions': of_each(boxes), 'detection_scores': numbers, 'detection_classes': numbers}
model.serve = serve
tf.saved_model.save(model, folder + '/model/1', signatures=serve)
pixels = {'contain': [], 'cover': []}
crop = keras.layers.Resizing(*size, crop_to_aspect_ratio=True)
for at, (height, width) in enumerate(${JSON.stringify(sizes)}):
    rows, columns = np.mgrid[:height, :width]
    noise = np.random.default_rng(at).normal(0, 20, (height, width, 3))
    picture = np.clip(128 + 80 * np.sin(rows / 9 + columns / 13)[..., None] + noise, 0, 255).astype('uint8')
    tf.io.write_file(f'{folder}/{at}.png', tf.io.encode_png(picture))
    pixels['contain'].append(tf.image.resize_with_pad(picture, *size))
    pixels['cover'].append(crop(picture.astype('float32')))
for resize, values in pixels.items():
    np.array(values, 'float32').tofile(f'{folder}/{resize}')
    sys.argv[1:] = [folder + '/model/1', f'{folder}/wrapped-{resize}', json.dumps({**settings, 'resize': resize})]
    wrap_image_input.main()`;
      const scripts = join(import.meta.dirname, '../../python');
      const args = ['-c', script, scratch.path(), scripts, JSON.stringify(settings)];
      execFileSync('python3', args, { stdio: 'ignore' });
      const pictures = sizes.map((_, at) => readFileSync(scratch.path(`${at}.png`)));
      for (const resize of ['contain', 'cover'] as const) {
        const session = await SavedModelSession.load(scratch.path(`wrapped-${resize}`));
        const image_bytes = stringTensor([pictures.length], pictures);
        const { outputs } = await session.run('serving_default', { image_bytes });
        await session.close();
        const valuesOf = (name: string) => {
          const tensor = outputs[name];
          if (tensor?.dtype !== 'float32') throw new Error('float32 expected');
          return typedArray({ ...tensor, dtype: 'float32' });
        };
        const bytes = readFileSync(scratch.path(resize));
        const expected = new Float32Array(new Uint8Array(bytes).buffer);
        const pixels = valuesOf('pixels');
        expect(pixels.length).toBe(expected.length);
        const differences = pixels.map((value, at) => Math.abs(value - Number(expected[at])));
        expect(differences.reduce((most, value) => Math.max(most, value))).toBeLessThan(0.01);
        const regions = sizes.flatMap(([pictureHeight, pictureWidth]) => {
          const picture = { height: pictureHeight, width: pictureWidth };
          const frame = frameInPicture(picture, { height, width }, resize);
          const { top, left } = frame;
          return [0.1, 0.2, 0.3, 0.4, 0, 0.25, 1, 1.1].map((edge, at) =>
            at % 2 === 0 ? top + edge * frame.height : left + edge * frame.width,
          );
        });
        const furthest = valuesOf('regions').map((edge, at) =>
          Math.abs(edge - Number(regions[at])),
        );
        expect(furthest).toHaveLength(regions.length);
        // An edge of a picture of 7 x 300 pixels lies at 18: five digits are those of a float32.
        expect(Math.max(...furthest)).toBeLessThan(1e-5);
      }
    },
  );

  withTensorFlow(
    `a file that is no Keras model is reported by Python’s message${reason}`,
    async () => {
      const packing = layOutTo({ source: scratch.write('net.keras', 'not a zip') });
      await expect(packing).rejects.toThrow(withCode('CONVERSION_FAILED'));
    },
  );
});

test('an image input knows the output of boxes, which it converts', async () => {
  const log = scratch.path('settings');
  useCommands({ python3: `[ "$1" = -c ] && exit 0\necho "$4" > ${log}; exit 1` });
  const packing = layOutTo({
    source: fixtureModel('detection').directory,
    imageInput: { size: [40, 64], resize: 'contain' },
    postprocess: { boxes: {} },
  });
  await expect(packing).rejects.toThrow(withCode('CONVERSION_FAILED'));
  expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({
    resize: 'contain',
    boxes: 'detection_boxes',
  });
});

test('an image input for a model that decodes pictures, or without a size, is refused', async () => {
  const decodes = layOutTo({ source: fixtureModel('tiles').directory, imageInput: {} });
  await expect(decodes).rejects.toThrow(withCode('BAD_DECLARATION'));
  const anySize = layOutTo({ source: fixtureModel('detection').directory, imageInput: {} });
  await expect(anySize).rejects.toThrow(/Declare size/);
});
