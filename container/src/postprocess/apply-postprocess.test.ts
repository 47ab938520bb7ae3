import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostprocessInput, postprocessSchema } from '@sagemaker-tfs/manifest';
import {
  type Nested,
  numericTensor,
  stringTensor,
  type TensorMap,
  tensorFromNested,
  toNested,
} from '@sagemaker-tfs/tensors';
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import { frameInPicture, placePicture, type ResizeMode } from '@sagemaker-tfs/tensors/placement';
import { countTurns } from '../testing/count-turns.ts';
import { applyPostprocess } from './apply-postprocess.ts';
import { type Labels, loadLabels } from './labels.ts';

function apply(outputs: TensorMap, declaration: PostprocessInput, labels: Labels = {}) {
  return applyPostprocess(outputs, postprocessSchema.parse(declaration), { labels });
}

function plain(outputs: TensorMap): Record<string, Nested> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, tensor]) => [name, toNested(tensor)]),
  );
}

const scores = tensorFromNested('float32', [
  [0.1, 0.5, 0.25, 0.15],
  [0.3, 0.3, 0.4, 0],
]);

describe('top K', () => {
  test('replaces the scores by the best classes, of equals the first', async () => {
    const { outputs } = await apply({ probabilities: scores }, { topK: { k: 3 } });
    expect(plain(outputs)).toEqual({
      classes: [
        [1n, 2n, 3n],
        [2n, 0n, 1n],
      ],
      scores: [
        [0.5, 0.25, Math.fround(0.15)],
        [Math.fround(0.4), Math.fround(0.3), Math.fround(0.3)],
      ],
    });
    expect(outputs.classes?.dtype).toBe('int64');
    expect(outputs.scores?.dtype).toBe('float32');
  });

  test.each<[string, string[]]>([
    ['before', ['classes', 'probabilities', 'other']],
    ['behind', ['probabilities', 'other', 'classes']],
  ])("an output that is named as top K's result, and comes %s it, gives way", async (_, order) => {
    const own = tensorFromNested('int64', [7n, 7n]);
    const all: TensorMap = { probabilities: scores, classes: own, other: own };
    const sent = Object.fromEntries(order.map((name) => [name, all[name] as never]));
    const topK = { output: 'probabilities', k: 1 };
    const { outputs } = await apply(sent, { topK }, { topK: ['a', 'b', 'c', 'd'] });
    expect(plain(outputs).classes).toEqual([[Buffer.from('b')], [Buffer.from('c')]]);
    const renamed = (await apply(sent, { topK, rename: { other: 'scores' } })).outputs;
    expect(plain(renamed).scores).toEqual([[0.5], [Math.fround(0.4)]]);
  });

  test('labels stand for classes; a class beyond the file keeps its number', async () => {
    const { outputs } = await apply(
      { probabilities: scores },
      { topK: { k: 2 } },
      { topK: ['cat', 'dog'] },
    );
    expect(plain(outputs).classes).toEqual([
      [Buffer.from('dog'), Buffer.from('2')],
      [Buffer.from('2'), Buffer.from('cat')],
    ]);
  });

  test('no more classes than there are, NaN last, any leading shape', async () => {
    const odd = tensorFromNested('float32', [[[Number.NaN, -1, Number.POSITIVE_INFINITY]]]);
    const { outputs } = await apply({ odd }, { topK: { k: 9 } });
    expect(plain(outputs)).toEqual({
      classes: [[[2n, 1n, 0n]]],
      scores: [[[Number.POSITIVE_INFINITY, -1, Number.NaN]]],
    });
  });

  test.each([
    [20, 1001],
    [64, 1001],
    [65, 1001],
    [900, 1001],
    [64, 30_011],
    [30_000, 30_011],
  ])('agrees with sorting: the best %d of %d classes', async (k, classes) => {
    const many = Array.from({ length: classes }, (_, at) => (at * 7919) % classes);
    const { outputs } = await apply({ many: tensorFromNested('int32', [many]) }, { topK: { k } });
    const expected = many.map((_, at) => at).sort((a, b) => (many[b] ?? 0) - (many[a] ?? 0));
    expect(plain(outputs).classes).toEqual([expected.slice(0, k).map(BigInt)]);
    expect(outputs.scores?.dtype).toBe('int32');
  });

  test.each([2, 100])('of equals the first, NaN last, among the best %d', async (k) => {
    const row = Array.from({ length: 130 }, (_, at) => (at % 3 === 0 ? Number.NaN : at % 2));
    const { outputs } = await apply({ y: tensorFromNested('float32', [row]) }, { topK: { k } });
    const rank = (at: number) => (Number.isNaN(row[at]) ? 2 : 1 - (row[at] as number));
    const expected = row.map((_, at) => at).sort((a, b) => rank(a) - rank(b) || a - b);
    expect(plain(outputs).classes).toEqual([expected.slice(0, k).map(BigInt)]);
  });

  test('other outputs stay beside it', async () => {
    const features = tensorFromNested('float32', [[1], [2]]);
    const { outputs } = await apply({ features, scores }, { topK: { k: 1, output: 'scores' } });
    expect(Object.keys(outputs)).toEqual(['features', 'classes', 'scores']);
  });
});

describe('softmax', () => {
  test('turns logits into probabilities, large ones too', async () => {
    const logits = tensorFromNested('float32', [
      [0, Math.log(3)],
      [1000, 1000],
      [-1000, 1000],
    ]);
    const result = plain((await apply({ logits }, { softmax: 'logits' })).outputs)
      .logits as number[][];
    expect(result[0]?.[0]).toBeCloseTo(0.25, 7);
    expect(result[0]?.[1]).toBeCloseTo(0.75, 7);
    expect(result.slice(1)).toEqual([
      [0.5, 0.5],
      [0, 1],
    ]);
  });

  test.each([[[Number.NaN, 1, 2]], [[Infinity, 1]], [[-Infinity, -Infinity]]])(
    'a row with %j is NaN throughout',
    async (row) => {
      const logits = tensorFromNested('float32', [row, row.map(() => 0)]);
      const { outputs } = await apply({ logits }, { softmax: 'logits' });
      const even = row.map(() => Math.fround(1 / row.length));
      expect(plain(outputs).logits).toEqual([row.map(() => Number.NaN), even]);
    },
  );

  test('comes before top K', async () => {
    const logits = tensorFromNested('float16', [[0, 0]]);
    const { outputs } = await apply({ logits }, { softmax: 'logits', topK: { k: 1 } });
    expect(plain(outputs).scores).toEqual([[0.5]]);
  });
});

describe('boxes', () => {
  const outputs = {
    detection_boxes: tensorFromNested('float32', [
      [
        [0, 0, 0.5, 0.5],
        [0.1, 0.2, 0.3, 0.4],
        [0, 0, 1, 1],
      ],
      [
        [1, 1, 1, 1],
        [2, 2, 2, 2],
        [3, 3, 3, 3],
      ],
    ]),
    detection_scores: tensorFromNested('float32', [
      [0.6, 0.9, 0.2],
      [0.1, 0.1, Number.NaN],
    ]),
    detection_classes: tensorFromNested('float32', [
      [1, 2, 1],
      [1, 1, 1],
    ]),
    raw: tensorFromNested('float32', [[1], [1]]),
  };

  test("are a list for each image, best first, with the float32's own digits", async () => {
    const { instances } = await apply(
      outputs,
      { boxes: { labels: 'l.txt' } },
      { boxes: ['?', 'cat'] },
    );
    expect(instances).toEqual([
      [
        { box: [0.1, 0.2, 0.3, 0.4], score: 0.9, class: 2, label: '2' },
        { box: [0, 0, 0.5, 0.5], score: 0.6, class: 1, label: 'cat' },
      ],
      [],
    ]);
  });

  test('are flat tensors where lists of different lengths have no form', async () => {
    const result = await apply(outputs, { boxes: { limit: 1, threshold: 0.1 } });
    expect(plain(result.outputs)).toEqual({
      images: [0n, 1n],
      classes: [2n, 1n],
      scores: [Math.fround(0.9), Math.fround(0.1)],
      boxes: [[0.1, 0.2, 0.3, 0.4].map(Math.fround), [1, 1, 1, 1]],
    });
  });

  test.each(['float16', 'bfloat16', 'float32', 'float64'] as const)(
    'a threshold is compared as %s has it',
    async (dtype) => {
      const near = { ...outputs, detection_scores: tensorFromNested(dtype, [[0.9, 0.85, 0.3]]) };
      const ofOne = {
        detection_boxes: tensorFromNested('float32', [[0, 1, 2].map(() => [0, 0, 1, 1])]),
        detection_classes: tensorFromNested('int64', [[1n, 2n, 3n]]),
      };
      for (const [threshold, count] of [
        [0.9, 1],
        [0.85, 2],
        [0.3, 3],
      ] as const) {
        const { instances } = await apply({ ...near, ...ofOne }, { boxes: { threshold } });
        expect(instances?.[0]).toHaveLength(count);
      }
    },
  );

  test('an image without detections, and none at all', async () => {
    const result = await apply(outputs, { boxes: { threshold: 1 } });
    expect(result.instances).toEqual([[], []]);
    expect(result.outputs.boxes?.shape).toEqual([0, 4]);
  });

  test("shapes that do not belong together are the model's fault", async () => {
    const odd = { ...outputs, detection_classes: tensorFromNested('float32', [[1]]) };
    await expect(apply(odd, { boxes: {} })).rejects.toThrow(/are not \[N, boxes, 4\]/);
  });

  test('a client that asked for other outputs gets those as they are', async () => {
    const { raw } = outputs;
    expect(await apply({ raw }, { boxes: {} })).toEqual({ outputs: { raw } });
  });
});

const rowOf = (width: number) => numericTensor('float32', [1, width], new Float32Array(width));
const scoresOf = (rows: number) => numericTensor('float32', [rows, 5], new Float32Array(rows * 5));

test.each<[string, TensorMap, PostprocessInput]>([
  ['softmax', { a: scoresOf(200_000) }, { softmax: 'a' }],
  ['softmax of one row', { a: rowOf(500_000) }, { softmax: 'a' }],
  ['top K', { a: scoresOf(200_000) }, { topK: { k: 2 } }],
  ['top K of one row', { a: rowOf(1_000_000) }, { topK: { k: 2 } }],
  ['a large K of one row', { a: rowOf(200_000) }, { topK: { k: 10_000 } }],
  [
    'boxes',
    {
      detection_boxes: numericTensor('float32', [20_000, 2, 4], new Float32Array(160_000)),
      detection_scores: numericTensor('float32', [20_000, 2], new Float32Array(40_000).fill(1)),
      detection_classes: numericTensor('float32', [20_000, 2], new Float32Array(40_000)),
    },
    { boxes: {} },
  ],
  [
    'boxes of one image',
    {
      detection_boxes: numericTensor('float32', [1, 40_000, 4], new Float32Array(160_000)),
      detection_scores: numericTensor('float32', [1, 40_000], new Float32Array(40_000).fill(1)),
      detection_classes: numericTensor('float32', [1, 40_000], new Float32Array(40_000)),
    },
    { boxes: {} },
  ],
])('%s of large outputs leaves others their turns', async (_, outputs, declaration) => {
  const { turns } = await countTurns(() => apply(outputs, declaration));
  expect(turns).toBeGreaterThan(10);
});

test("a class that is no number is the model's fault", async () => {
  const declaration = postprocessSchema.parse({ boxes: {} });
  const odd = {
    detection_boxes: tensorFromNested('float32', [[[0, 0, 1, 1]]]),
    detection_scores: tensorFromNested('float32', [[0.9]]),
    detection_classes: tensorFromNested('float32', [[Number.NaN]]),
  };
  await expect(applyPostprocess(odd, declaration)).rejects.toMatchObject({ code: 'MODEL_FAILED' });
});

describe('boxes of fitted pictures', () => {
  const declaration = postprocessSchema.parse({ boxes: {} });
  const outputs = {
    detection_boxes: tensorFromNested('float32', [[[0.25, 0, 0.75, 0.5]]]),
    detection_scores: tensorFromNested('float32', [[0.9]]),
    detection_classes: tensorFromNested('float32', [[1]]),
  };
  const boxOf = async (picture: Size, frame: Size, resize: ResizeMode) => {
    const frames = [frameInPicture(picture, frame, resize)];
    const { instances } = await applyPostprocess(outputs, declaration, { frames });
    return instances?.[0]?.[0]?.box;
  };
  const square = { width: 100, height: 100 };

  test.each<[string, Size, ResizeMode, number[]]>([
    ['a wide picture between bars', { width: 400, height: 200 }, 'contain', [0, 0, 1, 0.5]],
    ['a tall picture between bars', { width: 50, height: 100 }, 'contain', [0.25, -0.5, 0.75, 0.5]],
    [
      'a wide picture with its sides cut',
      { width: 400, height: 200 },
      'cover',
      [0.25, 0.25, 0.75, 0.5],
    ],
    ['a stretched picture', { width: 400, height: 200 }, 'stretch', [0.25, 0, 0.75, 0.5]],
    ['a picture of the same shape', { width: 10, height: 10 }, 'contain', [0.25, 0, 0.75, 0.5]],
  ])('%s', async (_what, picture, resize, box) => {
    expect(await boxOf(picture, square, resize)).toEqual(box);
  });

  test('a box drawn into the frame where the picture lies comes back as drawn', () => {
    // 640 x 427 in 99 x 99: the picture fills whole pixels, as the runtime places it.
    const picture = { width: 640, height: 427 };
    const frame = { width: 99, height: 99 };
    const { target } = placePicture(picture, frame, 'contain');
    const { top, height } = frameInPicture(picture, frame, 'contain');
    expect(top + (target.y / frame.height) * height).toBeCloseTo(0, 12);
    expect(top + ((target.y + target.height) / frame.height) * height).toBeCloseTo(1, 12);
  });
});

describe('selection', () => {
  test('keeps, orders and renames', async () => {
    const a = stringTensor([1], ['x']);
    const { outputs } = await apply(
      { a, b: scores, c: a },
      { outputs: ['c', 'b'], rename: { c: 'name' } },
    );
    expect(Object.keys(outputs)).toEqual(['name', 'b']);
  });
});

describe('labels', () => {
  test('are read from code/, a line a class; a missing file is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'labels-'));
    try {
      await writeFile(join(folder, 'labels.txt'), '\uFEFFtench\r\n goldfish \n\nshark\n');
      const declaration = postprocessSchema.parse({ topK: { labels: 'labels.txt' } });
      expect(await loadLabels(declaration, folder)).toEqual({
        topK: ['tench', 'goldfish', '', 'shark'],
      });
      const missing = postprocessSchema.parse({ boxes: { labels: 'none.txt' } });
      await expect(loadLabels(missing, folder)).rejects.toThrow(/none\.txt cannot be read/);
      await symlink('/etc/passwd', join(folder, 'link.txt'));
      const elsewhere = postprocessSchema.parse({ topK: { labels: 'link.txt' } });
      await expect(loadLabels(elsewhere, folder)).rejects.toThrow(/link\.txt cannot be read/);
      await symlink('labels.txt', join(folder, 'near.txt'));
      const near = postprocessSchema.parse({ topK: { labels: 'near.txt' } });
      expect((await loadLabels(near, folder)).topK).toHaveLength(4);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
