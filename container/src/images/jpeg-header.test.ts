import { ServingError } from '../errors.ts';
import { decodeImage } from './decode-image.ts';
import { countScans, readJpegHeader } from './jpeg-header.ts';
import { gradient, sizeByLibjpeg } from './test-pictures.ts';

const SOI = Buffer.from([0xff, 0xd8]);

function segment(marker: number, content: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}

/** A frame header of three components, which share a table. */
function frame(width: number, height: number, marker = 0xc0): Buffer {
  const content = Buffer.from([8, 0, 0, 0, 0, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
  content.writeUInt16BE(height, 1);
  content.writeUInt16BE(width, 3);
  return segment(marker, content);
}

/** Where a JPEG's frame header begins. */
function frameAt(jpeg: Buffer): number {
  for (let at = 2; at < jpeg.length; at += 2 + jpeg.readUInt16BE(at + 2)) {
    const marker = jpeg[at + 1] as number;
    if (marker >= 0xc0 && marker <= 0xc2) return at;
  }
  throw new Error('no frame header');
}

/** The JPEG with bytes put before its frame header, or behind the start of the file. */
function withBytes(jpeg: Buffer, bytes: Uint8Array, at = 2): Buffer {
  return Buffer.concat([jpeg.subarray(0, at), bytes, jpeg.subarray(at)]);
}

/** Bytes that libjpeg passes over and readers of lengths take for the start of a segment. */
const WITHOUT_LENGTH = {
  'a restart marker': [0xff, 0xd0],
  'the last restart marker': [0xff, 0xd7],
  TEM: [0xff, 0x01],
  'FF 00': [0xff, 0x00],
  'bytes between segments': [0x12, 0x34],
};

/**
 * Two frame headers: libjpeg, which knows that FF D0 has no length, finds the outer one; a reader that
 * takes the two bytes behind it (FF C0) for a length jumps into a comment, to the inner one.
 */
function twoFaced(
  jpeg: Buffer,
  { outer, inner, trick }: { outer: Buffer; inner: Buffer; trick: readonly number[] },
): Buffer {
  const start = Buffer.concat([SOI, Buffer.from(trick), outer]);
  const target = 2 + 2 + 0xffc0;
  const comment = Buffer.alloc(0xfff0, 0x20);
  inner.copy(comment, target - start.length - 4);
  segment(0xfe, Buffer.alloc(100)).copy(comment, target - start.length - 4 + inner.length);
  const at = frameAt(jpeg);
  const rest = jpeg.subarray(at + 2 + jpeg.readUInt16BE(at + 2));
  const tables = jpeg.subarray(2, at);
  return Buffer.concat([start, segment(0xfe, comment), tables, rest]);
}

function sizeByHeader(bytes: Buffer): string | undefined {
  const header = readJpegHeader(bytes);
  return header && `${header.width} x ${header.height}`;
}

describe('what all readers agree on', () => {
  test.each([
    ['plain', () => gradient(40, 30).jpeg(), { components: 3, severalScans: false }],
    ['progressive', () => gradient(40, 30).jpeg({ progressive: true }), { severalScans: true }],
    [
      'gray',
      () => gradient(40, 30).toColourspace('b-w').jpeg(),
      { components: 1, severalScans: false },
    ],
    ['CMYK', () => gradient(40, 30).toColourspace('cmyk').jpeg(), { components: 4 }],
    ['EXIF', () => gradient(40, 30).withMetadata({ orientation: 6 }).jpeg(), { orientation: 6 }],
    ['optimised', () => gradient(40, 30).jpeg({ mozjpeg: true }), { severalScans: true }],
  ])('%s', async (_, encode, expected) => {
    const jpeg = await encode().toBuffer();
    expect(readJpegHeader(jpeg)).toMatchObject({
      width: 40,
      height: 30,
      precision: 8,
      ...expected,
    });
  });

  test('fill bytes before a marker, and comments', async () => {
    const jpeg = await gradient(40, 30).jpeg().toBuffer();
    const fill = withBytes(jpeg, Buffer.from([0xff, 0xff, 0xff]));
    const comment = withBytes(jpeg, segment(0xfe, Buffer.from('a comment')), frameAt(jpeg));
    for (const bytes of [fill, comment]) {
      expect(sizeByHeader(bytes)).toBe('40 x 30');
      expect(sizeByLibjpeg(bytes)).toBe('40 x 30');
    }
  });

  test('the orientation may stand behind the frame header', async () => {
    const jpeg = await gradient(40, 30).withMetadata({ orientation: 3 }).jpeg().toBuffer();
    const exif = jpeg.indexOf(Buffer.from([0xff, 0xe1]));
    const end = exif + 2 + jpeg.readUInt16BE(exif + 2);
    const without = Buffer.concat([jpeg.subarray(0, exif), jpeg.subarray(end)]);
    const at = frameAt(without);
    const behind = at + 2 + without.readUInt16BE(at + 2);
    const moved = withBytes(without, jpeg.subarray(exif, end), behind);
    expect(readJpegHeader(moved)).toMatchObject({ width: 40, orientation: 3 });
  });
});

describe('what is not read here, but by sharp', () => {
  test.each(Object.entries(WITHOUT_LENGTH))('%s', async (_, bytes) => {
    const jpeg = await gradient(40, 30).jpeg().toBuffer();
    expect(readJpegHeader(withBytes(jpeg, Buffer.from(bytes)))).toBeUndefined();
    expect(readJpegHeader(withBytes(jpeg, Buffer.from(bytes), frameAt(jpeg)))).toBeUndefined();
  });

  test('a second frame header, an unknown marker, a second start, an early end', async () => {
    const jpeg = await gradient(40, 30).jpeg().toBuffer();
    const at = frameAt(jpeg);
    const unknown = segment(0xf0, Buffer.alloc(4));
    for (const bytes of [frame(8, 8), unknown, SOI, Buffer.from([0xff, 0xd9, 0, 2])]) {
      expect(readJpegHeader(withBytes(jpeg, bytes, at))).toBeUndefined();
    }
    expect(readJpegHeader(jpeg.subarray(0, at + 30))).toBeUndefined();
  });

  test('a frame header whose length is not that of its components', async () => {
    const jpeg = await gradient(40, 30).jpeg().toBuffer();
    jpeg[frameAt(jpeg) + 9] = 1;
    expect(readJpegHeader(jpeg)).toBeUndefined();
  });
});

test('whatever is changed in a header, it says the size that libjpeg decodes, or nothing', async () => {
  const originals = await Promise.all([
    gradient(24, 16).jpeg().toBuffer(),
    gradient(24, 16).jpeg({ progressive: true }).toBuffer(),
    gradient(24, 16).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
  ]);
  const special = [
    0, 1, 2, 3, 16, 0xc0, 0xc1, 0xc2, 0xd0, 0xd8, 0xd9, 0xda, 0xdb, 0xe1, 0xfe, 0xff,
  ];
  let seed = 7;
  const random = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % limit;
  };
  let agreed = 0;
  for (let round = 0; round < 3000; round++) {
    let bytes = Buffer.from(originals[round % 3] as Buffer);
    for (let change = random(3); change >= 0; change--) {
      const at = 2 + random(Math.min(bytes.length - 2, 800));
      const value = special[random(special.length)] as number;
      if (random(3) === 0)
        bytes = withBytes(bytes, Buffer.from([0xff, value]), at) as Buffer<ArrayBuffer>;
      else bytes[at] = value;
    }
    const said = readJpegHeader(bytes);
    // Sizes in between would take gigabytes to compare.
    if (!said || said.width * said.height > 1e7) continue;
    const found = sizeByLibjpeg(bytes);
    if (found === undefined) continue;
    expect(`${said.width} x ${said.height}`).toBe(found);
    agreed += 1;
  }
  expect(agreed).toBeGreaterThan(500);
});

describe('files made to be read in two ways', () => {
  const outers = {
    'as small as it says': [600, 600],
    'beyond 2^31 bytes': [32_768, 43_691],
  } as const;
  const cases = Object.entries(outers).flatMap(([name, [width, height]]) =>
    [0xd0, 0xd7, 0x01].map((marker) => ({ name, width, height, marker })),
  );

  test.each(cases)('$name behind FF $marker: no pixels of another picture', async (attack) => {
    const { width, height, marker } = attack;
    const jpeg = await gradient(600, 600).jpeg().toBuffer();
    for (const inner of [frame(16, 16), frame(105, 105)]) {
      const file = twoFaced(jpeg, { outer: frame(width, height), inner, trick: [0xff, marker] });
      const options = { width: 32, height: 32, maxPixels: 1e8 };
      // The memory that is used again holds this color.
      const poison = await gradient(600, 600).negate().jpeg().toBuffer();
      const before = await decodeImage(poison, options);
      const first = await decodeImage(file, options).catch((error: unknown) => error);
      if (first instanceof Error) {
        expect(first).toBeInstanceOf(ServingError);
        expect(['BAD_IMAGE', 'REQUEST_TOO_LARGE']).toContain((first as ServingError).code);
        continue;
      }
      const white = await gradient(600, 600).linear(0, 255).jpeg().toBuffer();
      await decodeImage(white, options);
      expect(await decodeImage(file, options)).toEqual(first);
      expect(first).not.toEqual(before);
    }
  });
});

test('scans of a JPEG that sends its components one by one are counted too', async () => {
  const jpeg = await gradient(16, 16).jpeg().toBuffer();
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  const one = segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0]));
  const bomb = Buffer.concat([
    jpeg.subarray(0, scan),
    ...new Array(5000).fill(one),
    jpeg.subarray(-2),
  ]);
  expect(readJpegHeader(bomb)).toMatchObject({ severalScans: true });
  expect(countScans(bomb)).toBe(5000);
  await expect(decodeImage(bomb)).rejects.toMatchObject({ code: 'BAD_IMAGE' });
});
