import { requestMediaTypes } from '../codecs/registry.ts';
import { boundedLabel, mediaTypeLabel } from './labels.ts';

test('every media type that a codec reads is a label of its own', () => {
  for (const type of requestMediaTypes()) {
    if (type.includes('*')) continue;
    expect(mediaTypeLabel(`${type}; charset=utf-8`)).toBe(type);
  }
});

test('other media types and the 101st value share one label', () => {
  expect(mediaTypeLabel('Text/CSV')).toBe('text/csv');
  expect(mediaTypeLabel('text/evil')).toBe('other');
  expect(mediaTypeLabel(undefined)).toBe('');
  const label = boundedLabel();
  const labels = Array.from({ length: 150 }, (_, index) => label(`model-${index}`));
  expect(new Set(labels).size).toBe(101);
  expect(label('model-7')).toBe('model-7');
  expect(label('model-149')).toBe('other');
});
