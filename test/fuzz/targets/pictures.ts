import { decodeImage, readJpegHeader } from '@sagemaker-tfs/container/parts';
import { gradient, sizeByLibjpeg } from '@sagemaker-tfs/container/testing';
import sharp from 'sharp';
import {
  type Change,
  changedGif,
  changedJpeg,
  changedPng,
  changedTiff,
  changedWebp,
} from '../build/pictures.ts';
import { pick } from '../random.ts';
import { Refused, type Target } from '../target.ts';
import { isClientError } from './codecs.ts';

type Pictures = () => Promise<Buffer[]>;

const picture = () => gradient(24, 16);

const jpegs: Pictures = () =>
  Promise.all([
    picture().jpeg().toBuffer(),
    picture().jpeg({ progressive: true }).toBuffer(),
    picture().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    picture().toColourspace('cmyk').jpeg().toBuffer(),
    picture().toColourspace('b-w').jpeg().toBuffer(),
  ]);
const pngs: Pictures = () =>
  Promise.all([
    picture().png().toBuffer(),
    picture().png({ palette: true }).toBuffer(),
    picture().png({ progressive: true }).toBuffer(),
    picture().ensureAlpha(0.5).toColourspace('rgb16').png().toBuffer(),
    picture().toColourspace('b-w').png().toBuffer(),
  ]);
const webps: Pictures = () =>
  Promise.all([
    picture().webp().toBuffer(),
    picture().webp({ lossless: true }).toBuffer(),
    picture().ensureAlpha(0.5).webp().toBuffer(),
    picture().withMetadata({ orientation: 3 }).webp().toBuffer(),
  ]);
const gifs: Pictures = () =>
  Promise.all([picture().gif().toBuffer(), picture().ensureAlpha(0).gif().toBuffer()]);
const tiffs: Pictures = () =>
  Promise.all([
    picture().tiff({ compression: 'lzw' }).toBuffer(),
    picture().tiff({ compression: 'none' }).toBuffer(),
    picture().tiff({ compression: 'deflate', predictor: 'horizontal' }).toBuffer(),
    picture().tiff({ compression: 'jpeg' }).toBuffer(),
    picture().tiff({ compression: 'packbits' }).toBuffer(),
    picture().tiff({ compression: 'lzw', tile: true, tileWidth: 16, tileHeight: 16 }).toBuffer(),
  ]);

const MARKERS = [
  '\xff\xd0',
  '\xff\xd8',
  '\xff\x00',
  '\xff\x01',
  '\xff\xc0\x00\x11\x08',
  '\xff\xda',
  '\xff\xff',
  '\xff\xfe',
];

function decoded(name: string, seeds: Pictures, change: Change, tokens: readonly string[]): Target {
  return {
    name,
    bytesPerByte: 64,
    // A million pixels, as they are decoded and as they are answered.
    ownMiB: 64,
    seeds,
    tokens,
    build: (random, pictures) => change(random, Buffer.from(pick(random, pictures))),
    isRefusal: isClientError,
    async read(bytes, random) {
      const options = {
        width: 8,
        height: 8,
        maxPixels: 1_000_000,
        channels: pick(random, ['rgb', 'bgr', 'gray'] as const),
      };
      return (await decodeImage(bytes, options)).data.length;
    },
  };
}

/** What is said of a JPEG must be what libjpeg decodes. */
function readHeader(bytes: Buffer): string {
  const header = readJpegHeader(bytes);
  if (!header || header.width * header.height > 4_000_000) throw new Refused();
  const said = `${header.width} x ${header.height}`;
  const found = sizeByLibjpeg(bytes);
  if (found === undefined) throw new Refused();
  if (said !== found) throw new Error(`said ${said}, libjpeg found ${found}`);
  return said;
}

/** The targets. */
export const PICTURES: readonly Target[] = [
  {
    name: 'jpeg-header',
    bytesPerByte: 64,
    seeds: jpegs,
    tokens: MARKERS,
    build: (random, pictures) => changedJpeg(random, Buffer.from(pick(random, pictures))),
    isRefusal: (error) => error instanceof Refused,
    read: readHeader,
  },
  decoded('jpeg', jpegs, changedJpeg, MARKERS),
  decoded('png', pngs, changedPng, ['IDAT', 'PLTE', 'tRNS', 'IEND']),
  decoded('webp', webps, changedWebp, ['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM']),
  decoded('gif', gifs, changedGif, ['\x21\xf9\x04', '\x2c', '\x3b', '\x21\xff\x0bNETSCAPE2.0']),
  decoded('tiff', tiffs, changedTiff, ['II*\0', 'MM\0*', '\x00\x01\x03\x00', '\x01\x01\x04\x00']),
];

sharp.concurrency(1);
