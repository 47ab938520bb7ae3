/** A folder of as many different small JPEGs as a batch job wants, the same at every run. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import jpegTurbo from '@julusian/jpeg-turbo';

const SIDE = 64;
/** Side of the field that the pictures are cut from: it has more places than there are pictures. */
const FIELD = 1_024;
const CHANNELS = 3;
const PER_FOLDER = 1_000;

/** Waves of different lengths, as smooth as photographs are. */
function field(): Uint8Array {
  const data = new Uint8Array(FIELD * FIELD * CHANNELS);
  for (let y = 0, at = 0; y < FIELD; y++) {
    for (let x = 0; x < FIELD; x++) {
      const wave = 60 * Math.sin(x / 23) + 50 * Math.cos(y / 17) + 20 * Math.sin((x * y) / 900);
      for (let channel = 0; channel < CHANNELS; channel++, at++) {
        data[at] = Math.max(
          0,
          Math.min(255, 128 + wave + 30 * Math.sin((x + y) / (31 + 9 * channel))),
        );
      }
    }
  }
  return data;
}

/** Cuts one picture, at a place of its own. */
function cut(source: Uint8Array, index: number): Buffer {
  const places = FIELD - SIDE;
  // A step without a common factor with the number of places visits each once.
  const place = (index * 7_919) % (places * places);
  const [left, top] = [place % places, Math.floor(place / places)];
  const picture = Buffer.alloc(SIDE * SIDE * CHANNELS);
  for (let row = 0; row < SIDE; row++) {
    const from = ((top + row) * FIELD + left) * CHANNELS;
    picture.set(source.subarray(from, from + SIDE * CHANNELS), row * SIDE * CHANNELS);
  }
  return picture;
}

/** What is wrong with an unreadable picture, in turn. */
const DAMAGES: readonly ((jpeg: Buffer) => Buffer)[] = [
  (jpeg) => jpeg.subarray(0, 40),
  () => Buffer.from('<html>not found</html>'),
  () => Buffer.alloc(0),
  (jpeg) => Buffer.from(jpeg).fill(0, 0, 200),
];

/**
 * Writes `count` pictures, a thousand to a folder.
 * @returns keys of the unreadable ones, sorted
 */
export async function writeManyPictures(
  directory: string,
  count: number,
  unreadable: number,
): Promise<string[]> {
  const source = field();
  const step = Math.floor(count / unreadable);
  const damaged: string[] = [];
  for (let first = 0; first < count; first += PER_FOLDER) {
    const folder = String(first / PER_FOLDER).padStart(3, '0');
    await mkdir(join(directory, folder), { recursive: true });
    for (let index = first; index < Math.min(count, first + PER_FOLDER); index++) {
      const key = `${folder}/picture ${String(index).padStart(6, '0')}.jpg`;
      const options = { format: jpegTurbo.FORMAT_RGB, width: SIDE, height: SIDE, quality: 80 };
      let jpeg = jpegTurbo.compressSync(cut(source, index), options);
      if (index % step === step >> 1 && damaged.length < unreadable) {
        jpeg = (DAMAGES[damaged.length % DAMAGES.length] as (typeof DAMAGES)[number])(jpeg);
        damaged.push(key);
      }
      await writeFile(join(directory, key), jpeg);
    }
  }
  return damaged.sort();
}
