/** What a terminal shows over time, as one animated picture without a script. */

/** Text of one look. */
export interface Run {
  readonly text: string;
  /** One of the 16 colors of terminals; undefined for the usual one. */
  readonly color?: number | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

/** Lines from top to bottom, each a list of runs with its first column. */
export type Screen = readonly (readonly (Run & { readonly column: number })[])[];

/** A screen, and how long it is shown. */
export interface Frame {
  readonly screen: Screen;
  readonly milliseconds: number;
}

/** Size of the terminal in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const BACK = '#16181d';
const TEXT = '#e6e8eb';
/** Black to white, then the bright ones. All but black have a contrast of 4.5 and more on the background. */
const COLORS = [
  ...['#7d8590', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#e6e8eb'],
  ...['#9198a1', '#ffa198', '#7ee787', '#f2cc60', '#a5d6ff', '#e2c5ff', '#a5f3fc', '#ffffff'],
];

/**
 * An SVG that shows the frames one after the other, for ever. Who asks for less motion sees the last one.
 * @param title what it shows, for those who do not see it
 */
export function recordingSvg(
  frames: readonly Frame[],
  { columns, rows }: Size,
  title: string,
): string {
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = rows * CELL.height + 2 * MARGIN;
  const total = frames.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const lines = new Map<string, string>();
  const groups = frames.map(({ screen, milliseconds }, index) => {
    const start = frames.slice(0, index).reduce((sum, frame) => sum + frame.milliseconds, 0);
    const uses = screen.flatMap((line, row) => {
      const drawn = lineSvg(line);
      if (drawn === '') return [];
      const id = lines.get(drawn) ?? `l${lines.size}`;
      lines.set(drawn, id);
      return [`<use href="#${id}" y="${row * CELL.height}"/>`];
    });
    const share = (time: number) => `${((100 * time) / total).toFixed(3)}%`;
    const [from, to] = [share(start), share(start + milliseconds)];
    const isLast = index === frames.length - 1;
    const steps = [
      ...(start > 0 ? [`0%{visibility:hidden}`] : []),
      `${from}{visibility:visible}`,
      ...(isLast ? [] : [`${to}{visibility:hidden}`]),
    ];
    return {
      style: `@keyframes k${index}{${steps.join('')}}#f${index}{animation:k${index} ${total}ms step-end infinite}`,
      group: `<g id="f${index}" class="f${isLast ? ' last' : ''}">${uses.join('')}</g>`,
    };
  });
  const defs = [...lines].map(([drawn, id]) => `<text id="${id}">${drawn}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${TEXT};white-space:pre}.b{font-weight:bold}.d{opacity:.72}.f{visibility:hidden}${COLORS.map((color, index) => `.c${index}{fill:${color}}`).join('')}
${groups.map(({ style }) => style).join('\n')}
@media (prefers-reduced-motion:reduce){.f{animation:none!important}.last{visibility:visible}}</style>
<defs>${defs.join('\n')}</defs>
<rect width="${width}" height="${height}" rx="8" fill="${BACK}"/>
<g transform="translate(${MARGIN} ${MARGIN + 14})">
${groups.map(({ group }) => group).join('\n')}
</g></svg>
`;
}

/** Spans with the width that a terminal would use, whatever the font. */
function lineSvg(line: Screen[number]): string {
  return line
    .map(({ text, column, color, bold, dim }) => {
      const classes = [color === undefined ? '' : `c${color}`, bold ? 'b' : '', dim ? 'd' : ''];
      const look = classes.filter(Boolean).join(' ');
      const x = (column * CELL.width).toFixed(1);
      const length = ([...text].length * CELL.width).toFixed(1);
      return `<tspan x="${x}" textLength="${length}"${look && ` class="${look}"`}>${escaped(text)}</tspan>`;
    })
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
