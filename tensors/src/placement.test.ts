import { placePicture } from './placement.ts';

describe('placePicture', () => {
  const wide = { width: 400, height: 200 };
  const tall = { width: 200, height: 400 };
  const square = { width: 100, height: 100 };

  test('stretch maps the whole picture to the whole frame', () => {
    expect(placePicture(wide, square, 'stretch')).toEqual({
      source: { x: 0, y: 0, width: 400, height: 200 },
      target: { x: 0, y: 0, width: 100, height: 100 },
    });
  });

  test('cover cuts the sides of a wide picture and the top and bottom of a tall one', () => {
    expect(placePicture(wide, square, 'cover').source).toEqual({
      x: 100,
      y: 0,
      width: 200,
      height: 200,
    });
    expect(placePicture(tall, square, 'cover').source).toEqual({
      x: 0,
      y: 100,
      width: 200,
      height: 200,
    });
  });

  test('cover cuts whole pixels as Keras does, an odd one more at the right and the bottom', () => {
    expect(placePicture({ width: 500, height: 333 }, square, 'cover').source).toEqual({
      x: 83,
      y: 0,
      width: 333,
      height: 333,
    });
    // 227 * 97 / 61 is 360.97.
    const frame = { width: 61, height: 97 };
    expect(placePicture({ width: 227, height: 401 }, frame, 'cover').source).toEqual({
      x: 0,
      y: 20,
      width: 227,
      height: 360,
    });
  });

  test('contain fills the part of the frame that TensorFlow fills, a pixel short where it is', () => {
    expect(placePicture(wide, square, 'contain')).toEqual({
      source: { x: 0, y: 0, width: 400, height: 200 },
      target: { x: 0, y: 25, width: 100, height: 50 },
    });
    const placed = placePicture({ width: 64, height: 48 }, { width: 15, height: 31 }, 'contain');
    expect(placed.target).toEqual({ x: 0, y: 9, width: 14, height: 11 });
  });

  test('a picture of extreme proportions keeps at least one pixel', () => {
    const line = { width: 10_000, height: 1 };
    const { target } = placePicture(line, square, 'contain');
    expect(target).toEqual({ x: 0, y: 49, width: 100, height: 1 });
    const { source } = placePicture(line, { width: 2, height: 300 }, 'cover');
    expect(source).toEqual({ x: 4999, y: 0, width: 1, height: 1 });
  });

  test('equal proportions fill the frame exactly in every mode', () => {
    for (const mode of ['stretch', 'cover', 'contain'] as const) {
      expect(placePicture({ width: 300, height: 210 }, { width: 100, height: 70 }, mode)).toEqual({
        source: { x: 0, y: 0, width: 300, height: 210 },
        target: { x: 0, y: 0, width: 100, height: 70 },
      });
    }
  });
});
