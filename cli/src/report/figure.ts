/** A chart of a report: drawn for wide and for narrow pages, with words for who does not see it. */
import type { EChartsOption } from 'echarts';
import { drawSvg } from '../output/chart.ts';
import { escaped, type Html, html, trusted } from './html.ts';
import { SERIES_COLORS } from './style.ts';

/** A chart, without colors and frame. */
export interface Chart {
  /** What the chart shows, in a sentence or two: its text alternative. */
  readonly description: string;
  /** Below the chart, for everybody. */
  readonly caption?: string;
  /** Names of the series in their order, below the chart. Default: it has one, without a name. */
  readonly legend?: { readonly names: readonly string[]; readonly of: 'lines' | 'bars' };
  /** Pixels. Default: 320. */
  readonly height?: number;
  readonly option: (isNarrow: boolean) => EChartsOption;
}

const WIDTH = { wide: 800, narrow: 360 };
const HEIGHT = 320;

/** Both drawings; the page shows one. */
export function figure(chart: Chart): Html {
  const { caption, legend } = chart;
  return html`<figure>
<div class="wide">${drawn(chart, false)}</div>
<div class="narrow">${drawn(chart, true)}</div>
${legend && legendHtml(legend)}
${caption && html`<figcaption>${caption}</figcaption>`}
</figure>
`;
}

function legendHtml({ names: all, of }: NonNullable<Chart['legend']>): Html {
  const items = all.map(
    (name, at) => html`<li>${of === 'lines' ? lineSwatch(at) : barSwatch(at)} ${name}</li>`,
  );
  return html`<ul class="legend">${items}</ul>`;
}

const DASHES = { solid: '', dashed: '8 4', dotted: '2 3' } as const;

function lineSwatch(at: number): Html {
  const { color, line } = lookOf(at);
  return html`<svg aria-hidden="true" viewBox="0 0 28 10"><path d="M0 5H28" stroke="${color}" stroke-width="3" stroke-dasharray="${DASHES[line]}"/></svg>`;
}

function barSwatch(at: number): Html {
  return html`<svg aria-hidden="true" viewBox="0 0 28 10"><path d="M8 0H20V10H8Z" fill="${lookOf(at).color}"/></svg>`;
}

function drawn({ description, height = HEIGHT, option }: Chart, isNarrow: boolean): Html {
  const size = { width: isNarrow ? WIDTH.narrow : WIDTH.wide, height };
  const svg = drawSvg({ ...FRAME, ...option(isNarrow) }, size).replace(
    /^<svg /,
    `<svg role="img" aria-label="${escaped(description)}" `,
  );
  return trusted(svg);
}

const FRAME: EChartsOption = {
  backgroundColor: 'transparent',
  color: SERIES_COLORS,
  textStyle: { color: 'var(--text)', fontFamily: 'inherit' },
};

const AXIS_STYLE = {
  nameLocation: 'middle',
  nameTextStyle: { color: 'var(--quiet)' },
  axisLine: { lineStyle: { color: 'var(--line)' } },
  axisTick: { lineStyle: { color: 'var(--line)' } },
  axisLabel: { color: 'var(--quiet)', hideOverlap: true },
  splitLine: { lineStyle: { color: 'var(--grid)' } },
} as const;

/** An axis of numbers with its name and unit. */
export function numbers(name: string, more: object = {}) {
  return { ...AXIS_STYLE, type: 'value', name, nameGap: 28, ...more } as const;
}

/** An axis of named rows, the first on top. */
export function names(data: readonly string[]) {
  const axisLabel = { color: 'var(--text)' };
  const type = 'category' as const;
  return { ...AXIS_STYLE, type, inverse: true, data: [...data], axisLabel };
}

const LINE_TYPES = ['solid', 'dashed', 'dotted'] as const;
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'] as const;

/** The look of a series by its number: lines differ in more than color. */
export function lookOf(at: number) {
  return {
    color: SERIES_COLORS[at % SERIES_COLORS.length] ?? '',
    line: LINE_TYPES[at % LINE_TYPES.length] ?? 'solid',
    symbol: SYMBOLS[at % SYMBOLS.length] ?? 'circle',
  } as const;
}
