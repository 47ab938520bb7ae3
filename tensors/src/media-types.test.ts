import { mediaTypeOf } from './media-types.ts';

test.each([
  ['cat.jpg', 'application/x-image'],
  ['below/CAT.PNG', 'application/x-image'],
  // No decoder of the runtime reads it.
  ['cat.bmp', undefined],
  ['rows.ndjson', 'application/jsonlines'],
  ['part.1.tfrecord', 'application/x-tfrecord'],
  ['table.parquet', 'application/x-parquet'],
  ['json', undefined],
  ['a.json/b', undefined],
  ['x.constructor', undefined],
  ['x.', undefined],
])('%s is %s', (name, type) => {
  expect(mediaTypeOf(name)).toBe(type);
});
