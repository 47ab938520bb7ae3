import { ManifestError } from './errors.ts';
import { LABELS_LIMITS, parseLabels } from './labels.ts';

test('a label a line, without the spaces around it, a byte order mark and a last empty line', () => {
  const text = '\uFEFFtench\r\n goldfish \n\nshark\n';
  expect(parseLabels(Buffer.from(text), 'x')).toEqual(['tench', 'goldfish', '', 'shark']);
});

test('as many labels as the limit are taken', () => {
  expect(parseLabels(Buffer.from('a\n'.repeat(LABELS_LIMITS.labels)), 'x')).toHaveLength(
    LABELS_LIMITS.labels,
  );
});

test.each([
  [
    'more lines',
    Buffer.alloc(LABELS_LIMITS.labels + 1, '\n'),
    /x\.txt has more than 1048576 lines/,
  ],
  [
    'more bytes',
    Buffer.alloc(LABELS_LIMITS.bytes + 1, 'a'),
    /x\.txt has 67108865 bytes. 67108864 are/,
  ],
])('%s are refused', (_, bytes, message) => {
  expect(() => parseLabels(bytes, 'x.txt')).toThrow(ManifestError);
  expect(() => parseLabels(bytes, 'x.txt')).toThrow(message);
});
