/**
 * Own resizing against sharp's, and decoding by libjpeg-turbo against sharp's, in CPU milliseconds a picture:
 * `node --import tsx container/src/images/resample.bench.ts`
 */
import jpegTurbo from '@julusian/jpeg-turbo';
import sharp from 'sharp';
import { decodeImage } from './decode-image.ts';
import { placePicture } from './placement.ts';
import { type Interpolation, resample } from './resample.ts';
import { gradient } from './test-pictures.ts';

const ROUNDS = 60;

async function milliseconds(work: () => unknown): Promise<string> {
  for (let round = 0; round < 10; round++) await work();
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) await work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / ROUNDS).toFixed(3).padStart(9);
}

async function compare(from: number, to: number): Promise<void> {
  const { data } = await gradient(from, from).raw().toBuffer({ resolveWithObject: true });
  const picture = { data, width: from, height: from, channels: 3 };
  const frame = { data: new Uint8Array(to * to * 3), width: to, height: to, channels: 3 };
  const placement = placePicture(picture, frame, 'stretch');
  const by = (interpolation: Interpolation['interpolation'], antialias: boolean) => () =>
    resample(picture, frame, placement, { interpolation, antialias });
  const own = by('bilinear', false);
  const raw = { width: from, height: from, channels: 3 } as const;
  const others = () =>
    sharp(data, { raw }).resize(to, to, { fit: 'fill', kernel: 'linear' }).raw().toBuffer();
  const name = `${from} -> ${to}`.padEnd(14);
  console.log(
    `resize ${name} own ${await milliseconds(own)}   sharp ${await milliseconds(others)}`,
  );
  for (const [interpolation, kernel] of [
    ['bilinear', 'linear'],
    ['bicubic', 'cubic'],
    ['lanczos3', 'lanczos3'],
  ] as const) {
    const sharps = () =>
      sharp(data, { raw }).resize(to, to, { fit: 'fill', kernel }).raw().toBuffer();
    console.log(
      `  ${interpolation.padEnd(19)} own ${await milliseconds(by(interpolation, false))}   antialias ${await milliseconds(by(interpolation, true))}   sharp ${await milliseconds(sharps)}`,
    );
  }
  console.log(`  area                own ${await milliseconds(by('area', false))}`);
  const jpeg = await gradient(from, from).jpeg({ quality: 85 }).toBuffer();
  const size = { width: to, height: to };
  const whole = () => decodeImage(jpeg, size);
  const decode = () => jpegTurbo.decompressSync(jpeg, { format: jpegTurbo.FORMAT_RGB });
  const bySharp = () =>
    sharp(jpeg).resize(to, to, { fit: 'fill', kernel: 'linear' }).raw().toBuffer();
  console.log(
    `JPEG   ${name} own ${await milliseconds(whole)}   sharp ${await milliseconds(bySharp)}   decode alone ${await milliseconds(decode)}`,
  );
}

async function main(): Promise<void> {
  for (const [from, to] of [
    [224, 224],
    [640, 224],
    [640, 640],
    [512, 640],
    [1280, 640],
    [2600, 640],
  ] as const) {
    await compare(from, to);
  }
}

void main();
