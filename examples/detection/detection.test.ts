/** The detection example as its README packages it: declared pre- and post-processing, a JPEG in, boxes out. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageModel } from '@sagemaker-tfs/model-packaging';
import { predict } from 'sagemaker-tfs/client';
import { type ModelUnderTest, startModel } from 'sagemaker-tfs/testing';
import truth from './truth.json';

const PICTURE = readFileSync(join(__dirname, 'samples', 'things.jpg'));
const readJson = (name: string) => JSON.parse(readFileSync(join(__dirname, name), 'utf8'));

jest.setTimeout(120_000);

let work: string;
let model: ModelUnderTest;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'detection-example-'));
  const out = join(work, 'detection.tar.gz');
  const postprocess = readJson('postprocess.json');
  const labels = join(__dirname, postprocess.boxes.labels);
  await packageModel({
    source: join(__dirname, 'model'),
    out,
    preprocess: readJson('preprocess.json'),
    postprocess: { ...postprocess, boxes: { ...postprocess.boxes, labels } },
  });
  model = await startModel({ model: out });
});
afterAll(async () => {
  await model?.stop();
  rmSync(work, { recursive: true, force: true });
});

type Box = readonly number[];

/** Intersection over union. */
function overlap(a: Box, b: Box): number {
  const [top = 0, left = 0, bottom = 0, right = 0] = a.map((edge, at) =>
    at < 2 ? Math.max(edge, b[at] as number) : Math.min(edge, b[at] as number),
  );
  const area = ([t = 0, l = 0, e = 0, r = 0]: Box) => Math.max(0, e - t) * Math.max(0, r - l);
  const both = area([top, left, bottom, right]);
  return both / (area(a) + area(b) - both);
}

test('every thing is found once, where it was drawn, in the coordinates of the picture', async () => {
  const answer = await model.post(PICTURE, { contentType: 'image/jpeg' });
  const { predictions } = answer.json() as {
    predictions: { box: number[]; label: string; score: number }[][];
  };
  const found = predictions[0] ?? [];
  expect(found).toHaveLength(truth.things.length);
  for (const { label, box } of truth.things) {
    const shares = box.map((edge, at) => edge / (at % 2 === 0 ? truth.height : truth.width));
    const same = found.filter((one) => overlap(one.box, shares) > 0.9);
    expect(same.map((one) => one.label)).toEqual([label]);
    expect(same[0]?.score).toBeGreaterThan(0.5);
  }
});

test('the eight outputs of EfficientDet have its names, shapes and dtypes', async () => {
  const bare = await startModel({ model: join(__dirname, 'model') });
  try {
    const answer = await predict({ url: bare.url }, PICTURE, {
      contentType: 'application/x-image',
      accept: 'application/x-npz',
    });
    const shapes = Object.entries(answer.tensors()).map(
      ([name, { dtype, shape }]) => `${name} ${dtype} [${shape}]`,
    );
    expect(shapes.sort()).toEqual([
      'detection_anchor_indices float32 [1,100]',
      'detection_boxes float32 [1,100,4]',
      'detection_classes float32 [1,100]',
      'detection_multiclass_scores float32 [1,100,3]',
      'detection_scores float32 [1,100]',
      'num_detections float32 [1]',
      'raw_detection_boxes float32 [1,25600,4]',
      'raw_detection_scores float32 [1,25600,3]',
    ]);
    const { num_detections: count, detection_scores: scores } = answer.tensors();
    const above = Array.from(scores?.data as Float32Array).filter((score) => score > 0);
    expect(Number(count?.data[0])).toBe(above.length);
  } finally {
    await bare.stop();
  }
});
