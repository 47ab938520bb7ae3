/** Pictures. */
import { readFile } from 'node:fs/promises';
import { decodeImage, type Interpolation } from '@sagemaker-tfs/container/parts';
import type { ResizeMode } from '@sagemaker-tfs/tensors/placement';
import { bytesOf, type Case, type Section } from './case.ts';

async function differsAsImage(given: Case): Promise<string | undefined> {
  if (given.pixels === false) return whyRead(given);
  const picture = given.path ? await readFile(given.path as string) : bytesOf(given.data);
  const { data } = await decodeImage(picture, {
    width: given.width as number,
    height: given.height as number,
    antialias: given.antialias as boolean,
    ...(given.channels === 'gray' ? { channels: 'gray' as const } : {}),
    ...(given.resize ? { resize: given.resize as ResizeMode } : {}),
    ...(given.method ? { interpolation: given.method as Interpolation['interpolation'] } : {}),
  });
  const expected = bytesOf(given.pixels);
  let largest = 0;
  for (const [at, value] of expected.entries()) {
    largest = Math.max(largest, Math.abs(value - (data[at] as number)));
  }
  const isSame = data.length === expected.length && largest <= (given.tolerance as number);
  return isSame ? undefined : `${given.kind} ${given.method} ${given.resize ?? ''}: by ${largest}`;
}

/** A picture that is refused: its message says how to save it. */
async function whyRead({ kind, data }: Case): Promise<string | undefined> {
  try {
    await decodeImage(bytesOf(data));
    return `${kind}: read`;
  } catch (error) {
    return /Save it as|Convert it to/.test((error as Error).message)
      ? undefined
      : `${kind}: ${error}`;
  }
}

/** Pictures, decoded and resized. */
export const images: readonly Section[] = [
  {
    file: 'images',
    title:
      'Pictures of 127 kinds, decoded and resized: JPEG, PNG, GIF, WebP; TIFF of every kind of samples, compression, layout and orientation; 40 sizes with every filter, with and without antialias',
    reference: 'TensorFlow, Pillow',
    tolerance:
      'decoded: equal, YCbCr in TIFF without JPEG within 1, two kinds of TIFF refused by name; resized: within 1 of 255 of TensorFlow, within 2 of Pillow',
    differs: differsAsImage,
  },
  {
    file: 'gray',
    title: 'JPEGs and PNGs as gray, PNGs with a gamma among them',
    reference: 'TensorFlow',
    tolerance: 'equal, PNGs of 16 bits within 16',
    differs: differsAsImage,
  },
  {
    file: 'photos',
    title: 'Photos of 12 million pixels, resized with every filter, with and without antialias',
    reference: 'TensorFlow, Pillow',
    tolerance: 'within 1 of 255 of TensorFlow, within 2 of Pillow',
    differs: differsAsImage,
  },
  {
    file: 'keras_images',
    title:
      "Keras's preprocessing, shrinking and enlarging: `Resizing` plain, cropped and padded, `smart_resize`, `image_dataset_from_directory`, `load_img`",
    reference: 'Keras, TensorFlow, Pillow',
    tolerance: 'within 1 of 255, of `load_img` within 2',
    differs: differsAsImage,
  },
];
