/** Resizing and JPEG encoding in browsers and their workers, by a canvas. */
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import { PredictionError } from '../errors/prediction-error.ts';
import type { FitImageOptions } from './fit-image-options.ts';
import { place } from './placement.ts';

/** The part of the browsers' API in use; the project's types are Node's. */
interface ImageBitmap extends Size {
  close(): void;
}
interface Context2d {
  imageSmoothingQuality: 'low' | 'medium' | 'high';
  fillRect(x: number, y: number, width: number, height: number): void;
  drawImage(image: ImageBitmap, x: number, y: number, width: number, height: number): void;
}
interface BrowserApi {
  createImageBitmap(blob: Blob): Promise<ImageBitmap>;
  OffscreenCanvas: new (
    width: number,
    height: number,
  ) => {
    getContext(kind: '2d', options: { alpha: false }): Context2d;
    convertToBlob(options: { type: string; quality: number }): Promise<Blob>;
  };
}

/** As `fitImage`. */
export async function encodeJpeg(
  image: Uint8Array,
  { width, height, mode, quality }: Required<FitImageOptions>,
): Promise<Uint8Array> {
  const browser = globalThis as unknown as BrowserApi;
  const blob = new Blob([image as Uint8Array<ArrayBuffer>]);
  const bitmap = await browser.createImageBitmap(blob).catch((cause: unknown) => {
    throw new PredictionError('BAD_IMAGE', 'the browser cannot decode the image.', { cause });
  });
  try {
    const canvas = new browser.OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', { alpha: false });
    context.imageSmoothingQuality = 'high';
    context.fillRect(0, 0, width, height);
    const target = place(bitmap, { width, height }, mode);
    context.drawImage(bitmap, target.x, target.y, target.width, target.height);
    const encoded = await canvas.convertToBlob({ type: 'image/jpeg', quality: quality / 100 });
    return new Uint8Array(await encoded.arrayBuffer());
  } finally {
    bitmap.close();
  }
}
