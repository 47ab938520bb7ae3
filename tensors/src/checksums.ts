/** Faster checksums than this package, which runs in browsers too, has itself. */
import { type Crc32, provideCrc32 } from './crc32.ts';
import { type Crc32c, provideCrc32c } from './crc32c.ts';

/** Checksums by native code; each must equal the portable one. */
export interface Checksums {
  readonly crc32: Crc32;
  readonly crc32c: Crc32c;
}

/** From now on npz archives and TFRecords are summed up by these. */
export function provideChecksums({ crc32, crc32c }: Checksums): void {
  provideCrc32(crc32);
  provideCrc32c(crc32c);
}
