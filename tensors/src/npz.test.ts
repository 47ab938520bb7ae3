import { unzipSync, zipSync } from 'fflate';
import { goldenBytes } from '../fixtures/read.ts';
import { encodeNpy } from './npy.ts';
import { decodeNpz, encodeNpz, encodeNpzInTurns } from './npz.ts';
import { numericTensor, stringTensor } from './tensor.ts';
import { toNested } from './typed-array.ts';
import { tensorFromValues } from './values.ts';

const maxBytes = 1_000_000;
const npyFile = Buffer.concat(encodeNpy(tensorFromValues('float32', [1000], Array(1000).fill(0))));

const zipped = () => zipSync({ 'a.npy': npyFile });

/** The archive whose directory says another compression method. */
function withMethod(zip: Uint8Array, method: number): Uint8Array {
  const changed = Buffer.from(zip);
  changed.writeUInt16LE(method, changed.indexOf('PK\x01\x02', 'latin1') + 10);
  return changed;
}

/** The archive with a byte changed, at an offset from the last `PK` record of this kind. */
function changed(zip: Uint8Array, kind: string, offset: number, byte = 0xff): Uint8Array {
  const copy = Buffer.from(zip);
  copy[copy.lastIndexOf(`PK${kind}`, undefined, 'latin1') + offset] = byte;
  return copy;
}

/** The archive with another name in the file's own header. */
function renamed(zip: Uint8Array): Uint8Array {
  const changed = Buffer.from(zip);
  changed.write('b', changed.indexOf('a.npy'));
  return changed;
}

describe('decodeNpz', () => {
  test.each(['stored', 'deflated', 'zip64'])('reads what NumPy writes, %s', (name) => {
    const tensors = decodeNpz(goldenBytes(`${name}.npz`), { maxBytes });
    expect(Object.keys(tensors)).toEqual(['scores', 'image é', 'name']);
    expect(tensors['image é'] && toNested(tensors['image é'])).toEqual([
      [0, 1, 2],
      [127, 128, 255],
    ]);
    expect(tensors.scores).toMatchObject({ dtype: 'float32', shape: [2, 3] });
    expect(tensors.name && toNested(tensors.name)).toEqual([Buffer.from('x')]);
  });

  test('stored arrays are views', () => {
    const bytes = goldenBytes('stored.npz');
    const { scores } = decodeNpz(bytes, { maxBytes });
    expect(scores?.dtype === 'float32' && scores.bytes.buffer).toBe(bytes.buffer);
  });

  test('more than the limit, before anything is decompressed', () => {
    const zip = zipSync({ 'a.npy': npyFile });
    expect(decodeNpz(zip, { maxBytes: npyFile.byteLength })).toHaveProperty('a');
    expect(() => decodeNpz(zip, { maxBytes: npyFile.byteLength - 1 })).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }),
    );
  });

  test.each([-1, 1, -4000])('a directory that lies about the size by %d', (by) => {
    const zip = Buffer.from(zipSync({ 'a.npy': npyFile }));
    const directory = zip.indexOf('PK\x01\x02', 'latin1');
    zip.writeUInt32LE(npyFile.byteLength + by, directory + 24);
    expect(() => decodeNpz(zip, { maxBytes })).toThrow(
      expect.objectContaining({ code: 'MALFORMED' }),
    );
  });

  test('a claim that deflate cannot meet takes no memory', () => {
    const zip = Buffer.from(zipSync({ 'a.npy': npyFile }));
    zip.writeUInt32LE(0xfffffff0, zip.indexOf('PK\x01\x02', 'latin1') + 24);
    expect(() => decodeNpz(zip, { maxBytes: 2 ** 40 })).toThrow(/cannot hold/);
  });

  test('any flipped byte of the content fails the CRC or the reading', () => {
    const zip = Buffer.concat(encodeNpz({ a: tensorFromValues('int8', [4], [1, 2, 3, 4]) }));
    const at = zip.indexOf(Buffer.from([1, 2, 3, 4]));
    zip[at] = 9;
    expect(() => decodeNpz(zip, { maxBytes })).toThrow(/"?a.npy"? does not fit its CRC/);
  });

  test('nothing is dropped: more members than 16 bits count, bytes after, names without .npy', () => {
    const tiny = tensorFromValues('uint8', [], [7]);
    const many = Object.fromEntries(Array.from({ length: 65_600 }, (_, at) => [`${at}`, tiny]));
    const read = decodeNpz(Buffer.concat(encodeNpz(many)), { maxBytes: 2 ** 30 });
    expect(Object.keys(read)).toHaveLength(65_600);
    const zip = zipSync({ a: npyFile, 'b.npy': npyFile });
    const names = Object.keys(decodeNpz(Buffer.concat([zip, Buffer.alloc(65_536)]), { maxBytes }));
    expect(names).toEqual(['a', 'b']);
  });

  test.each<[string, () => Uint8Array, RegExp]>([
    ['bytes before it', () => Buffer.concat([Buffer.alloc(3), zipped()]), /put after other bytes/],
    ['an archive before it', () => Buffer.concat([zipped(), zipped()]), /put after other bytes/],
    ['a name twice', () => zipSync({ a: npyFile, 'a.npy': npyFile }), /"a" twice/],
    ['bzip2', () => withMethod(zipped(), 12), /compression method 12. Stored and deflate are read/],
    ['another version of the format', () => changed(zipped(), '\x01\x02', 6), /needs version 25.5/],
    [
      'another CRC in the directory',
      () => changed(zipped(), '\x01\x02', 16),
      /does not fit its CRC/,
    ],
    ['another size of the directory', () => changed(zipped(), '\x05\x06', 12), /directory ends at/],
    ['two names for one', () => renamed(zipped()), /another name in its own header/],
  ])('refuses %s', (_, archive, message) => {
    expect(() => decodeNpz(archive(), { maxBytes })).toThrow(message);
  });

  // numpy.load (NumPy 2.4.6, Python 3.11) takes these too; it was asked with each byte of an archive changed.
  test.each<[string, string, number]>([
    ["the CRC in a file's own header", '\x03\x04', 14],
    ["the sizes in a file's own header", '\x03\x04', 18],
    ['the number of entries here', '\x05\x06', 8],
    ['the number of entries', '\x05\x06', 10],
  ])('reads past, as NumPy does: %s', (_what, kind, offset) => {
    const { a } = decodeNpz(changed(zipped(), kind, offset), { maxBytes });
    expect(a?.shape).toEqual([1000]);
  });

  test.each(['deflated.npz', 'zip64.npz'])('every truncation of %s', (name) => {
    const zip = goldenBytes(name);
    for (let length = 0; length < zip.byteLength; length++) {
      expect(() => decodeNpz(zip.subarray(0, length), { maxBytes })).toThrow(
        expect.objectContaining({ code: 'MALFORMED' }),
      );
    }
  });

  test('other files inside, and what is no archive', () => {
    expect(() => decodeNpz(zipSync({ 'readme.txt': new Uint8Array(1) }), { maxBytes })).toThrow(
      /^"readme.txt": not a .npy file/,
    );
    expect(() => decodeNpz(npyFile, { maxBytes })).toThrow(/zip archive/);
    expect(() => decodeNpz(zipSync({ 'a.npy': npyFile.subarray(0, 9) }), { maxBytes })).toThrow(
      /^"a": /,
    );
  });
});

describe('encodeNpz', () => {
  test('another unzip finds the .npy files', () => {
    const scores = tensorFromValues('float32', [2], [0.5, 1]);
    const names = stringTensor([1], ['é']);
    const files = unzipSync(Buffer.concat(encodeNpz({ scores, 'naïve name': names })));
    expect(Object.keys(files)).toEqual(['scores.npy', 'naïve name.npy']);
    expect(Buffer.from(files['scores.npy'] ?? []).equals(Buffer.concat(encodeNpy(scores)))).toBe(
      true,
    );
  });

  test('comes back, with arrays aligned for their elements', () => {
    const tensors = {
      a: tensorFromValues('uint8', [3], [1, 2, 3]),
      b: tensorFromValues('float64', [2], [1.5, -2]),
      c: tensorFromValues('int64', [], [7]),
      empty: tensorFromValues('uint64', [0, 2], []),
    };
    const back = decodeNpz(Uint8Array.from(Buffer.concat(encodeNpz(tensors))), { maxBytes });
    expect(Object.keys(back)).toEqual(['a', 'b', 'c', 'empty']);
    for (const [name, tensor] of Object.entries(tensors)) {
      const found = back[name];
      if (found?.dtype === 'string' || !found) throw new Error(name);
      expect(toNested(found)).toEqual(toNested(tensor));
      expect(found.bytes.byteOffset % 64).toBe(0);
    }
  });

  test('tensor bytes are not copied; the same tensors make the same archive', () => {
    const bytes = new Uint8Array(100_000);
    const encode = () => encodeNpz({ a: numericTensor('uint8', [100_000], bytes) });
    expect(encode().some((chunk) => chunk.buffer === bytes.buffer)).toBe(true);
    expect(Buffer.concat(encode()).equals(Buffer.concat(encode()))).toBe(true);
  });
});

describe('encodeNpzInTurns', () => {
  test('the same archive, with turns in between', async () => {
    const large = numericTensor('uint8', [5_000_000], new Uint8Array(5_000_000).fill(7));
    const tensors = { large, small: tensorFromValues('float32', [2], [1, 2]) };
    let turns = 0;
    const chunks = await encodeNpzInTurns(tensors, async () => {
      turns += 1;
    });
    expect(Buffer.concat(chunks).equals(Buffer.concat(encodeNpz(tensors)))).toBe(true);
    expect(turns).toBeGreaterThan(1);
  });
});
