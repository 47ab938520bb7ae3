/** Models packaged with `preprocess` and `postprocess`, served without a handler: pictures in, answers out. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { type ContentOptions, layOut, packageModel } from '@sagemaker-tfs/model-packaging';
import sharp from 'sharp';
import tileLabels from '../../examples/tiles/labels.json';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { invoke } from './testing/invoke.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const TILES = join(__dirname, '..', '..', 'examples', 'tiles');
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'declared-images-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

type Declarations = Pick<ContentOptions, 'preprocess' | 'postprocess'>;

/** Packages a model, unpacks the archive as SageMaker does, and starts the runtime on it. */
async function serve(
  model: string,
  declarations: Declarations,
  edit?: (manifest: Manifest) => object,
): Promise<RuntimeProcess> {
  const folder = await scratch();
  const out = join(folder, 'model.tar.gz');
  await packageModel({ source: fixtureModel(model).basePath, out, ...declarations });
  const { directory, manifest } = await layOut(out, join(folder, 'model'));
  if (edit) {
    const path = join(directory, 'code', 'manifest.json');
    await writeFile(path, JSON.stringify(edit(manifest as Manifest)));
  }
  const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory });
  cleanups.push(() => runtime.end('SIGKILL'));
  return runtime;
}

async function labelsFile(...labels: string[]): Promise<string> {
  const path = join(await scratch(), 'labels.txt');
  await writeFile(path, labels.map((label) => `${label}\n`).join(''));
  return path;
}

function picture(width: number, height: number, background: string): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
}

/** The elements of `predictions`, the same over both transports. */
async function predictions(
  runtime: RuntimeProcess,
  body: Uint8Array,
  type = 'application/x-image',
) {
  const answers = await Promise.all(
    ['grpc', 'rest'].map(async (transport) => {
      const attributes = `tfs-transport=${transport}`;
      const response = await invoke(runtime, { body, type, attributes });
      const answer = (await response.json()) as { predictions: unknown[] };
      expect([response.status, answer]).toEqual([200, { predictions: expect.any(Array) }]);
      expect(response.headers.get('X-Amzn-SageMaker-Custom-Attributes')).toMatch(
        /tfs-fingerprint=[0-9a-f]{16}/,
      );
      return answer.predictions;
    }),
  );
  expect(answers[1]).toEqual(answers[0]);
  return answers[0] as never[];
}

/** Pictures behind their lengths, 4 bytes big-endian each. */
function lengthPrefixed(pictures: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    pictures.flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.byteLength);
      return [length, bytes];
    }),
  );
}

const closeTo = (values: number[]) => values.map((value) => expect.closeTo(value, 4));

test('letterbox: the picture between bars of the declared color; outputs selected and renamed', async () => {
  const runtime = await serve('image_uint8', {
    preprocess: { resize: 'contain', padding: 7 },
    postprocess: { outputs: ['corners', 'mean_color'], rename: { mean_color: 'color' } },
  });
  await runtime.ready();
  const [answer] = await predictions(runtime, await picture(64, 32, '#ff0000'));
  expect(answer).toEqual({
    color: closeTo([131, 3.5, 3.5]),
    corners: Array(4).fill([7, 7, 7]),
  });
});

test('channels first, mean and std for each channel; many pictures in one request', async () => {
  const mean = [0.5, 0.25, 0];
  const std = [0.5, 0.25, 2];
  const runtime = await serve('image_nchw', {
    preprocess: { mean, std },
    postprocess: { outputs: ['mean_color'] },
  });
  await runtime.ready();
  const body = lengthPrefixed([await picture(32, 24, '#ff8000'), await picture(8, 8, '#0000ff')]);
  const normalized = (pixel: number[]) =>
    closeTo(pixel.map((v, i) => (v / 255 - (mean[i] as number)) / (std[i] as number)));
  expect(await predictions(runtime, body, 'application/octet-stream')).toEqual([
    normalized([255, 128, 0]),
    normalized([0, 0, 255]),
  ]);
});

test('softmax of logits, then the best classes by their labels', async () => {
  const runtime = await serve('image_nchw', {
    preprocess: { mean: 0.5, std: 0.5 },
    postprocess: {
      outputs: ['mean_color'],
      softmax: 'mean_color',
      topK: { k: 2, labels: await labelsFile('red', 'green', 'blue') },
    },
  });
  await runtime.ready();
  const [answer] = await predictions(runtime, await picture(32, 24, '#00ff80'));
  const logits = [-1, 1, 128 / 127.5 - 1].map(Math.exp);
  const sum = logits.reduce((a, b) => a + b);
  expect(answer).toEqual({
    classes: ['green', 'blue'],
    scores: closeTo([(logits[1] as number) / sum, (logits[2] as number) / sum]),
  });
});

test('detections above the threshold as boxes with labels, best first', async () => {
  const labels = await labelsFile(...Array.from({ length: 91 }, (_, i) => `kind ${i}`));
  const boxes = { threshold: 0.6, limit: 7, labels };
  const runtime = await serve('detection', { postprocess: { boxes } });
  await runtime.ready();
  const [found] = (await predictions(runtime, await picture(96, 96, '#ff0040'))) as {
    box: number[];
    score: number;
    class: number;
    label: string;
  }[][];
  expect(found).toHaveLength(7);
  const scores = (found ?? []).map(({ score }) => score);
  expect(Math.min(...scores)).toBeGreaterThanOrEqual(0.6);
  expect([...scores].sort((a, b) => b - a)).toEqual(scores);
  for (const detection of found ?? []) {
    expect(detection.box).toHaveLength(4);
    expect(detection.label).toBe(`kind ${detection.class}`);
  }
});

test('detections of a letterboxed picture are in its own coordinates, whatever it is sent in', async () => {
  const boxes = { threshold: 0, limit: 5 };
  const size: [number, number] = [96, 96];
  const fitted = await serve('detection', {
    preprocess: { resize: 'contain', size },
    postprocess: { boxes },
  });
  const plain = await serve('detection', { postprocess: { boxes } });
  await Promise.all([fitted.ready(), plain.ready()]);
  // What the model sees of it: bars above and below, the picture in rows 24 to 72.
  const wide = await picture(192, 96, '#ff0040');
  const bars = { top: 24, bottom: 24, background: '#000000' };
  const seen = await sharp(await picture(96, 48, '#ff0040'))
    .extend(bars)
    .png()
    .toBuffer();
  const boxesOf = async (runtime: RuntimeProcess, body: Uint8Array, type?: string) =>
    (await predictions(runtime, body, type))[0] as unknown as { box: number[] }[];
  const [own, framed, records] = [
    await boxesOf(fitted, wide),
    await boxesOf(plain, seen),
    await boxesOf(fitted, lengthPrefixed([wide]), 'application/octet-stream'),
  ];
  expect(own).toHaveLength(5);
  expect(records).toEqual(own);
  for (const [at, { box }] of framed.entries()) {
    const [top, left, bottom, right] = box as [number, number, number, number];
    const expected = [(top * 96 - 24) / 48, left, (bottom * 96 - 24) / 48, right];
    expect(own[at]?.box).toEqual(expected.map((edge) => expect.closeTo(edge, 5)));
  }
});

test('encoded pictures as they are, the best class by its label', async () => {
  const kinds = ['water', 'forest', 'field', 'urban'];
  const runtime = await serve('tiles', {
    postprocess: { topK: { output: 'probabilities', k: 1, labels: await labelsFile(...kinds) } },
  });
  await runtime.ready();
  const names = Object.keys(tileLabels).slice(0, 8) as (keyof typeof tileLabels)[];
  const tiles = await Promise.all(names.map((name) => readFile(join(TILES, 'samples', name))));
  const answers = (await predictions(
    runtime,
    lengthPrefixed(tiles),
    'application/octet-stream',
  )) as { classes: string[] }[];
  const right = answers.filter(
    ({ classes }, i) => classes[0] === kinds[tileLabels[names[i] as keyof typeof tileLabels]],
  );
  expect(answers).toHaveLength(8);
  expect(right.length).toBeGreaterThanOrEqual(7);
});

test.each<[string, string, object]>([
  ['an input', 'preprocess.input', { preprocess: { input: 'nobody' } }],
  ['an output', 'postprocess.outputs.0', { postprocess: { outputs: ['nobody'] } }],
  ['the boxes', 'postprocess.boxes.scores', { postprocess: { boxes: { scores: 'nobody' } } }],
  ['a value', 'preprocess.resize', { preprocess: { resize: 'squeeze' } }],
])('a declaration that does not fit the model stops the start: %s', async (_what, field, wrong) => {
  const runtime = await serve('image_nchw', {}, (manifest) => ({ ...manifest, ...wrong }));
  expect(await runtime.exit).toBe(1);
  expect(runtime.output()).toMatch(new RegExp(`^sagemaker-tfs: .*${field}`, 'm'));
});
