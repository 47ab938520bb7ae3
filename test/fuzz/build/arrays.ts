/** Files of NumPy that fit a signature, with a wrong field now and then. */
import type { Signature, TensorSpec } from '@sagemaker-tfs/tensors';
import { pick, type Random } from '../random.ts';
import { slip, slipTo, someBytes, u8, u16le, u32le } from './bytes.ts';
import { sizesOf } from './json-text.ts';
import { type ZipEntry, zipOf } from './zip.ts';

const DESCR: Readonly<Record<string, string>> = {
  float32: '<f4',
  int64: '<i8',
  bool: '|b1',
  uint8: '|u1',
};
const OTHERS = [
  '<f8',
  '<f2',
  '>f4',
  '>i8',
  '<i4',
  '|i1',
  '<u8',
  '|V2',
  '<c8',
  '|O',
  '|S3',
  '<U2',
  '|S0',
  '<U0',
  '<f4x',
  '<M8[ns]',
];

/** One array. */
export function npyOf(random: Random, spec: TensorSpec): Buffer {
  const texts = random(2) ? '|S4' : '<U3';
  const descr = slipTo(random, DESCR[spec.dtype ?? ''] ?? texts, OTHERS);
  const sizes = sizesOf(random, spec).map((size) => slip(random, size));
  const shown = sizes.map((size) =>
    slipTo(random, String(size), ['', '1 2', '7L', '0x1', '-1', '1e9']),
  );
  const shape = slipTo(random, `(${shown.join(', ')}${sizes.length === 1 ? ',' : ''})`, [
    '()',
    '(1',
    '1',
    '[1]',
    '(1,)'.repeat(3),
  ]);
  const fortran = slipTo(random, random(2) ? 'True' : 'False', ['1', 'true', '']);
  const members = [`'descr': '${descr}'`, `'fortran_order': ${fortran}`, `'shape': ${shape}`];
  const text = `{${(random(6) ? members : members.toReversed()).join(', ')}, }`;
  const version = slipTo(random, 1 + random(3), [0, 4, 255]);
  const start = version === 1 ? 10 : 12;
  const padded = `${text}${' '.repeat((64 - ((start + text.length + 1) % 64)) % 64)}\n`;
  const length = slip(random, padded.length);
  const count = sizes.reduce((product, size) => product * size, 1);
  const bytes = Math.min(slip(random, count * bytesPerItem(descr)), 4_096);
  return Buffer.concat([
    Buffer.from('\x93NUMPY', 'latin1'),
    u8(version),
    u8(slip(random, 0)),
    version === 1 ? u16le(length) : u32le(length),
    Buffer.from(padded, 'latin1'),
    contentOf(random, spec, bytes),
  ]);
}

function bytesPerItem(descr: string): number {
  const [, kind, size] = /^[<>|]?([a-zA-Z])(\d+)/.exec(descr) ?? [];
  return Number(size ?? 0) * (kind === 'U' ? 4 : 1);
}

function contentOf(random: Random, { dtype }: TensorSpec, bytes: number): Buffer {
  if (dtype === 'bool')
    return Buffer.from(Array.from({ length: bytes }, () => slip(random, random(2))));
  // As UTF-32, letters; as anything else, small numbers.
  if (dtype === 'string') {
    return Buffer.from(
      Array.from({ length: bytes }, (_, at) => (at % 4 === 0 ? 97 + random(3) : 0)),
    );
  }
  return someBytes(random, bytes);
}

/** An archive of all inputs. */
export function npzOf(random: Random, { inputs }: Signature): Buffer {
  const entries = Object.entries(inputs).map(([name, spec]): ZipEntry => {
    const ending = slipTo(random, '.npy', ['', '.NPY', '.npy.npy', '/x.npy']);
    return {
      name: `${slipTo(random, name, ['y', 'x', ''])}${ending}`,
      content: npyOf(random, spec),
    };
  });
  const extra = random(16) ? [] : [pick(random, entries)];
  return zipOf(random, [...entries, ...extra]);
}
