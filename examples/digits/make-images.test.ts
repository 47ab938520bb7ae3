import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { type ImageFormat, writeTestDigits } from './make-images.ts';
import { testDigits } from './mnist.ts';

describe('writeTestDigits', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'digits-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('writes a file a digit, named after its place and label, and tells the labels', async () => {
    const labels = await writeTestDigits(directory, { count: 3 });
    expect(labels).toEqual({ '00000-7.jpg': 7, '00001-2.jpg': 2, '00002-1.jpg': 1 });
    expect(readdirSync(directory).sort()).toEqual(Object.keys(labels));
  });

  it.each<[ImageFormat, number]>([
    ['png', 0],
    ['jpeg', 40],
  ])('keeps the pixels as %s within %d gray levels', async (format, within) => {
    const [name = ''] = Object.keys(await writeTestDigits(directory, { count: 1, format }));
    const picture = await sharp(join(directory, name))
      .toColorspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(picture.info).toMatchObject({ width: 28, height: 28, channels: 1 });
    const pixels = testDigits()[0]?.pixels ?? [];
    const differences = Array.from(pixels, (level, i) =>
      Math.abs(level - (picture.data[i] ?? 999)),
    );
    expect(Math.max(...differences)).toBeLessThanOrEqual(within);
  });

  it('continues where it was interrupted: what is there stays, what is missing is written', async () => {
    const labels = await writeTestDigits(directory, { count: 5, format: 'png' });
    const [kept = '', lost = ''] = Object.keys(labels);
    writeFileSync(join(directory, kept), 'kept');
    rmSync(join(directory, lost));
    expect(await writeTestDigits(directory, { count: 5, format: 'png' })).toEqual(labels);
    expect(statSync(join(directory, kept)).size).toBe(4);
    expect(existsSync(join(directory, lost))).toBe(true);
  });

  it('has all 10,000 test digits, a thousand or so of each', () => {
    const counts = new Array(10).fill(0);
    for (const { label } of testDigits()) counts[label]++;
    expect(counts.reduce((sum, n) => sum + n)).toBe(10_000);
    expect(Math.min(...counts)).toBeGreaterThan(850);
  });
});
