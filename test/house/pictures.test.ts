/** Charts can be read: on light and on dark pages, without a legend, and they say under which conditions they hold. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contrast, readSvg } from './svg-text.ts';
import { ROOT, trackedFiles } from './tracked-files.ts';

const RECORDING = 'docs/images/terminal.svg';
const pictures = trackedFiles('*.svg');
const charts = pictures.filter((file) => file !== RECORDING);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('there are charts, and a recording', () => {
  expect(charts.length).toBeGreaterThan(10);
  expect(pictures).toContain(RECORDING);
});

describe.each(['light', 'dark'] as const)('on a %s page', (scheme) => {
  // WCAG 2.2: 4.5 for text (1.4.3), 3 for bars and lines (1.4.11).
  test.each(pictures)('%s stands out from its ground', (file) => {
    const { ground, texts, shapes } = readSvg(read(file), scheme);
    expect(texts.length).toBeGreaterThan(5);
    const low = (shown: readonly { color: typeof ground; text?: string }[], least: number) =>
      shown.filter(({ color }) => contrast(color, ground) < least);
    expect(low(texts, 4.5)).toEqual([]);
    expect(low(shapes, 3)).toEqual([]);
  });
});

test.each(charts)('%s follows the reader to a dark ground', (file) => {
  const grounds = (['light', 'dark'] as const).map((scheme) => readSvg(read(file), scheme).ground);
  expect(contrast(grounds[0] ?? [0, 0, 0], [0, 0, 0])).toBeGreaterThan(15);
  expect(contrast(grounds[1] ?? [1, 1, 1], [1, 1, 1])).toBeGreaterThan(15);
});

test.each(charts)('%s has words for labels, and a text alternative', (file) => {
  const svg = read(file);
  const { texts } = readSvg(svg, 'light');
  const letters = texts.filter(({ text }) => /(?<![\w'./-])[b-zB-Z](?![\w'.-])/.test(text));
  expect(letters).toEqual([]);
  expect(svg).toMatch(/<svg role="img" aria-label="[^"]{20,}"/);
});

test.each(charts)(
  '%s says what was in flight, how many processes, what the model computes',
  (file) => {
    const all = readSvg(read(file), 'light')
      .texts.map(({ text }) => text)
      .join('\n');
    expect(all).toMatch(/in flight/);
    expect(all).toMatch(/process/);
    expect(all).toMatch(/model|MobileNet/);
  },
);

test('what cannot be read is found', () => {
  const svg = (fill: string, style = '') =>
    `<svg>${style}<rect fill="#ffffff"></rect><text fill="${fill}">S</text></svg>`;
  const [text] = readSvg(svg('#999'), 'light').texts;
  expect(text?.text).toBe('S');
  expect(contrast(text?.color ?? [1, 1, 1], [1, 1, 1])).toBeCloseTo(2.85, 2);
  expect(contrast([0, 0, 0], [1, 1, 1])).toBeCloseTo(21, 5);
  const dark = '<style>@media (prefers-color-scheme:dark){[fill="#999"]{fill:#ff0000}}</style>';
  expect(readSvg(svg('#999', dark), 'dark').texts[0]?.color).toEqual([1, 0, 0]);
  expect(readSvg(svg('#999', dark), 'light').texts[0]?.color[0]).toBeCloseTo(0.6);
  expect(() => readSvg(svg('#999', '<style>g text{fill:#fff}</style>'), 'light')).toThrow('g text');
  expect(() => readSvg(svg('url(#a)'), 'light')).toThrow('no color');
});
