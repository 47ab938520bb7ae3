import { textLines } from './text-lines.ts';

const linesOf = async (...chunks: (Uint8Array | string)[]) => {
  async function* all() {
    yield* chunks;
  }
  const lines: string[] = [];
  for await (const line of textLines(all())) lines.push(line);
  return lines;
};

test('lines end at line feeds alone, wherever the chunks are cut', async () => {
  const rows = ['a\u2028b', 'c\u2029d\u0085e', '', '\u{1f600}ü', 'f\rg'].map((text) =>
    JSON.stringify(text),
  );
  const bytes = Buffer.from(rows.join('\n'));
  for (let at = 0; at <= bytes.length; at++) {
    expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(rows);
  }
  expect(await linesOf(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(rows);
});

test('a return before the line feed belongs to the end; the last line may have none; an empty text has no line', async () => {
  expect(await linesOf('a\r', '\nb\rc\r\n', '\nd')).toEqual(['a', 'b\rc', '', 'd']);
  expect(await linesOf('a\n')).toEqual(['a']);
  expect(await linesOf()).toEqual([]);
});
