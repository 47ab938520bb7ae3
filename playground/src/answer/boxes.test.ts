import type { PictureInput } from '../description.ts';
import { type Box, boxAt, inPicture } from './boxes.ts';

const BOX: Box = { top: 0, left: 0, bottom: 0.5, right: 1, score: 0.9, name: 'thing' };
const FRAME = { input: 'image', width: 100, height: 100, pixels: null, isRaw: false };

test.each([
  ['cover', { width: 500, height: 333 }, [0, 83 / 500, 0.5, 416 / 500]],
  ['contain', { width: 400, height: 200 }, [-0.5, 0, 0.5, 1]],
  ['stretch', { width: 400, height: 200 }, [0, 0, 0.5, 1]],
] as const)('a box lies where the runtime has fitted the picture: %s', (resize, size, expected) => {
  const frame: PictureInput = { ...FRAME, resize, declared: null };
  const { top, left, bottom, right } = inPicture(BOX, size, frame);
  for (const [at, edge] of [top, left, bottom, right].entries()) {
    expect(edge).toBeCloseTo(expected[at] as number, 12);
  }
});

test('the box at a point is the smallest there', () => {
  const boxes = [BOX, { ...BOX, left: 0.5, top: 0.25 }, { ...BOX, bottom: 0.1 }];
  expect(boxAt(boxes, 0.1, 0.3)).toBe(0);
  expect(boxAt(boxes, 0.6, 0.3)).toBe(1);
  expect(boxAt(boxes, 0.6, 0.05)).toBe(2);
  expect(boxAt(boxes, 0.6, 0.6)).toBe(-1);
});
