import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import { type NumericTensor, stringTensor, typedArray } from '@sagemaker-tfs/tensors';
import sharp from 'sharp';
import labels from './labels.json';

const samples = Object.entries(labels).map(([name, label]) => ({
  bytes: readFileSync(join(__dirname, 'samples', name)),
  label,
}));

describe('the tiles example', () => {
  let session: SavedModelSession;

  beforeAll(async () => {
    session = await SavedModelSession.load(join(__dirname, 'model', '1738108800'));
  });
  afterAll(() => session.close());

  async function classify(images: readonly Uint8Array[]): Promise<number[]> {
    const inputs = { image_bytes: stringTensor([images.length], images) };
    const { outputs } = await session.run('serving_default', inputs);
    expect(outputs.probabilities).toMatchObject({ dtype: 'float32', shape: [images.length, 4] });
    const classes = outputs.classes as NumericTensor;
    return Array.from(typedArray({ ...classes, dtype: 'int64' }), Number);
  }

  it('classifies its 24 samples, all in one request, at least 22 rightly', async () => {
    const classes = await classify(samples.map(({ bytes }) => bytes));
    expect(classes).toHaveLength(24);
    const right = classes.filter((found, i) => found === samples[i]?.label);
    expect(right.length).toBeGreaterThanOrEqual(22);
  });

  it('reads PNG as it reads JPEG, and pictures of another size', async () => {
    const [urban] = samples.filter(({ label }) => label === 3);
    const png = await sharp(urban?.bytes).png().toBuffer();
    const large = await sharp(urban?.bytes).resize(512).jpeg().toBuffer();
    expect(await classify([png, large])).toEqual([3, 3]);
  });

  it('fails on bytes that are no picture, and continues working', async () => {
    await expect(classify([Buffer.from('no picture')])).rejects.toThrow(/Unknown image/);
    expect(await classify([samples[0]?.bytes as Uint8Array])).toEqual([samples[0]?.label]);
  });
});
