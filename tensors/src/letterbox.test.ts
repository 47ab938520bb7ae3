import { letterbox, type Size } from './letterbox.ts';

/** Width and height of a picture and of a frame, then x, y, width and height as tf.image.resize_with_pad has them. */
const OF_TENSORFLOW = [
  // Exact.
  [400, 200, 100, 100, 0, 25, 100, 50],
  [300, 210, 100, 70, 0, 0, 100, 70],
  [3, 1, 3, 4, 0, 1, 3, 1],
  [393, 262, 668, 368, 58, 0, 552, 368],
  [10_000, 100, 100, 100, 0, 49, 100, 1],
  // A side that should fill the frame is a pixel short.
  [64, 48, 15, 31, 0, 9, 14, 11],
  [71, 71, 224, 224, 0, 0, 223, 223],
  [2056, 4299, 416, 416, 108, 0, 198, 415],
  [645, 430, 224, 224, 0, 37, 223, 149],
  // So is the other side.
  [848, 636, 640, 640, 0, 80, 640, 479],
  [160, 120, 300, 300, 0, 37, 299, 224],
  [2160, 1215, 224, 224, 0, 49, 223, 125],
  // The bar is: it is halved before the picture is rounded down.
  [480, 270, 224, 224, 0, 48, 224, 126],
  [336, 252, 320, 320, 0, 39, 320, 240],
] as const;

test('places and rounds as tf.image.resize_with_pad, in 32-bit floats', () => {
  for (const row of OF_TENSORFLOW) {
    const [width, height, across, down, ...expected] = row;
    const target = letterbox({ width, height }, { width: across, height: down });
    expect([row, target.x, target.y, target.width, target.height]).toEqual([row, ...expected]);
  }
});

test('keeps at least one pixel, where TensorFlow refuses', () => {
  const frame: Size = { width: 416, height: 416 };
  expect(letterbox({ width: 4416, height: 10 }, frame)).toEqual({
    x: 0,
    y: 207,
    width: 415,
    height: 1,
  });
});
