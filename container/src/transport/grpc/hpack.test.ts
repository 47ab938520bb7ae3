import { encodeHeaders, HeaderDecoder } from './hpack.ts';

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');

/** Table size 256, as the examples of RFC 7541, C.5 and C.6 have it. */
const SIZE_256 = '3fe101';

const FIRST = {
  ':status': '302',
  'cache-control': 'private',
  date: 'Mon, 21 Oct 2013 20:13:21 GMT',
  location: 'https://www.example.com',
};
const SECOND = { ...FIRST, ':status': '307' };
const THIRD = {
  ':status': '200',
  'cache-control': 'private',
  date: 'Mon, 21 Oct 2013 20:13:22 GMT',
  location: 'https://www.example.com',
  'content-encoding': 'gzip',
  'set-cookie': 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
};

describe('headers of HTTP/2', () => {
  test.each([
    [
      'without Huffman coding (RFC 7541, C.5)',
      [
        `${SIZE_256} 4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54
         6e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
        '4803333037c1c0bf',
        `88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a
         4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31`,
      ],
    ],
    [
      'with Huffman coding (RFC 7541, C.6)',
      [
        `${SIZE_256} 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8
         e9ae82ae43d3`,
        '4883640effc1c0bf',
        `88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960
         d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007`,
      ],
    ],
  ])('three replies that build on each other, the table too small for all, %s', (_name, blocks) => {
    const decoder = new HeaderDecoder();
    expect(blocks.map((block) => decoder.decode(hex(block)))).toEqual([FIRST, SECOND, THIRD]);
  });

  test('what is written is read as it was', () => {
    const fields = [
      [':path', '/tensorflow.serving.PredictionService/Predict'],
      ['te', 'trailers'],
      ['x', 'y'.repeat(126)],
      ['z', 'y'.repeat(20_000)],
    ] as const;
    const block = encodeHeaders(fields);
    expect(new HeaderDecoder().decode(block)).toEqual(Object.fromEntries(fields));
  });

  test.each([
    ['an index into nothing', 'ff 80 01'],
    ['a text cut short', '00 05 61 62'],
    ['a block that ends after a name', '00 01 61'],
    ['a number without end', 'ff ff ff ff ff ff ff ff ff ff'],
    ['a table larger than agreed', '3f e1 ff 03'],
    ['a Huffman code that ends amid a code', '00 81 00 01 61'],
    ['the end-of-string symbol inside a text', '00 84 ff ff ff ff 01 61'],
  ])('%s is refused', (_name, block) => {
    expect(() => new HeaderDecoder().decode(hex(block))).toThrow(
      expect.objectContaining({ name: 'RangeError' }),
    );
  });
});
