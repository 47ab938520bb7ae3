import { crc32, crc32ByTable } from './crc32.ts';

test.each([
  ['', 0],
  ['123456789', 0xcbf43926],
])('CRC-32 of %j', (text, crc) => {
  expect(crc32(Buffer.from(text))).toBe(crc);
  expect(crc32ByTable(Buffer.from(text))).toBe(crc);
});

test('continues from what came before', () => {
  expect(crc32(Buffer.from('6789'), crc32(Buffer.from('12345')))).toBe(0xcbf43926);
  expect(crc32(new Uint8Array(0), 0xcbf43926)).toBe(0xcbf43926);
  expect(crc32ByTable(Buffer.from('6789'), crc32ByTable(Buffer.from('12345')))).toBe(0xcbf43926);
});
