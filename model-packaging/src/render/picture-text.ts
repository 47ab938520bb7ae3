/** How a picture that is sent becomes an input, in a line. */
import type { ResolvedPreprocess } from '@sagemaker-tfs/manifest';

const COLORS = { rgb: 'RGB', bgr: 'BGR', gray: 'gray' } as const;
const RESIZES = {
  stretch: 'stretched to',
  cover: 'cropped to',
  contain: 'letterboxed to',
} as const;

/** `RGB, stretched to 224x224, values 0 to 255`: width x height, and the least and the highest value. */
export function pictureText(picture: ResolvedPreprocess): string {
  if (picture.bytes) return 'the bytes as they are sent';
  const { channels, resize, width, height, scale, offset } = picture;
  const isFixed = width !== undefined && height !== undefined;
  const size = isFixed ? `${RESIZES[resize]} ${width}x${height}` : 'in its own size';
  const [least, most] = valueRange(scale, offset);
  return `${COLORS[channels]}, ${size}, values ${shown(least)} to ${shown(most)}`;
}

/** Whether pixels reach the model as they are, 0 to 255, though it could take any numbers. */
export function hasRawPixels(picture: ResolvedPreprocess): boolean {
  if (picture.bytes || !/float/.test(picture.dtype)) return false;
  const [least, most] = valueRange(picture.scale, picture.offset);
  return least === 0 && most === WHITE;
}

/** Of a pixel. */
const WHITE = 255;

/** Over all channels. */
function valueRange(scale: readonly number[], offset: readonly number[]): [number, number] {
  const ends = scale.flatMap((factor, at) => {
    const black = offset[at] ?? 0;
    return [black, WHITE * factor + black];
  });
  return [Math.min(...ends), Math.max(...ends)];
}

const shown = (value: number) => String(Number(value.toPrecision(3)));
