import { randomBytes } from 'node:crypto';
import { crc32, crc32c } from '@node-rs/crc32';
import { provideChecksums } from '@sagemaker-tfs/tensors';
import { crc32 as chosenCrc32, crc32ByTable } from '../../../tensors/src/crc32.ts';
import { crc32c as chosenCrc32c, crc32cByTables } from '../../../tensors/src/crc32c.ts';

const bytes = randomBytes(5_000);
const parts = [0, 1, 7, 63, 64, 511, 512, 4_096].flatMap((length) =>
  [0, 1, 3].map((from) => bytes.subarray(from, from + length)),
);

test('native code sums up as the tables do, at every length and alignment', () => {
  for (const part of parts) {
    expect(crc32c(part)).toBe(crc32cByTables(part));
    expect(crc32(part, 0)).toBe(crc32ByTable(part));
    expect(crc32(part, 0x12345678)).toBe(crc32ByTable(part, 0x12345678));
  }
});

test('what is provided is taken, short records apart', () => {
  const called: string[] = [];
  const noting = <Args extends unknown[]>(name: string, sum: (...args: Args) => number) => {
    return (...args: Args) => {
      called.push(name);
      return sum(...args);
    };
  };
  provideChecksums({ crc32: noting('crc32', crc32), crc32c: noting('crc32c', crc32c) });
  for (const part of [bytes, bytes.subarray(0, 8)]) {
    expect(chosenCrc32(part)).toBe(crc32ByTable(part));
    expect(chosenCrc32c(part)).toBe(crc32cByTables(part));
  }
  expect(called).toEqual(['crc32', 'crc32c', 'crc32']);
});
