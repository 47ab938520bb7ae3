/** How long answers took: the share within each time, and where the time went. */
import { type LatencySummary, summarize } from '../output/latency.ts';
import { ms } from '../output/print.ts';
import { type Chart, lookOf, names, numbers } from './figure.ts';

/** Milliseconds of answers. */
export interface Latencies {
  readonly name: string;
  readonly milliseconds: readonly number[];
}

/** Points of a line; more cannot be seen. */
const POINTS = 300;
/** The axis ends here, in times of the largest P95: one answer that took long must not flatten the rest. */
const FAR = 3;

/** Share of answers at or below each time, with P50 and P95 marked. */
export function latencyChart(series: readonly Latencies[]): Chart {
  const summaries = series.map(({ milliseconds }) => summarize(milliseconds));
  const largest = Math.max(...summaries.map(({ max }) => max));
  const edge = roundedUp(Math.min(largest, FAR * Math.max(...summaries.map(({ p95 }) => p95))));
  const beyond = series.flatMap(({ milliseconds }) => milliseconds.filter((value) => value > edge));
  const told = series.map(({ name }, at) => {
    const { p50, p95 } = summaries[at] as ReturnType<typeof summarize>;
    return `${name}: half of the answers within ${ms(p50)} ms, 95% within ${ms(p95)} ms.`;
  });
  return {
    description: `Share of answers within each time. ${told.join(' ')}`,
    caption: [
      'The higher the line, the more answers came within that time. Points mark P50 and P95.',
      ...(beyond.length > 0
        ? [
            `${beyond.length} slower, up to ${ms(largest)} ms, ${beyond.length === 1 ? 'lies' : 'lie'} beyond the right edge.`,
          ]
        : []),
    ].join(' '),
    ...(series.length > 1 && {
      legend: { names: series.map(({ name }) => name), of: 'lines' as const },
    }),
    option: (isNarrow) => ({
      grid: { left: 56, right: isNarrow ? 72 : 90, top: 16, bottom: 48 },
      xAxis: numbers('milliseconds', { max: edge, min: 0 }),
      yAxis: numbers('% of answers', { min: 0, max: 100, nameGap: 36 }),
      series: series.flatMap(({ name, milliseconds }, at) => [
        {
          name,
          type: 'line',
          step: 'end',
          symbol: 'none',
          lineStyle: { type: lookOf(at).line, width: 2, color: lookOf(at).color },
          data: steps(milliseconds),
        },
        marks(summaries, at, { name, isNarrow, edge }),
      ]),
    }),
  };
}

function steps(milliseconds: readonly number[]): [number, number][] {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const count = Math.min(POINTS, sorted.length);
  const points = Array.from({ length: count }, (_, at): [number, number] => {
    const index = Math.ceil(((at + 1) * sorted.length) / count) - 1;
    return [sorted[index] as number, (100 * (index + 1)) / sorted.length];
  });
  return [[sorted[0] as number, 0], ...points];
}

/** To two digits, as an axis ends. */
function roundedUp(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit) * unit).toPrecision(2));
}

/** Part of the axis that a label on the left needs, and half of a label's height in pixels. */
const ROOM = 0.3;
const LINE = 10;

/** P50 and P95 of a line. The first of several to reach a share is labeled on its left if there is room, the others on their right. */
function marks(
  summaries: readonly LatencySummary[],
  at: number,
  {
    name,
    isNarrow,
    edge,
  }: { readonly name: string; readonly isNarrow: boolean; readonly edge: number },
) {
  const label = (share: 'p50' | 'p95', value: number) => {
    const earlier = summaries.filter((other, index) =>
      other[share] === value ? index < at : other[share] < value,
    ).length;
    const isOne = summaries.length === 1;
    const isLeft = !isOne && earlier === 0 && value > ROOM * edge;
    // A single line rises: below on the right it leaves room.
    const below = isOne ? LINE : LINE * (2 * earlier - 1);
    return {
      show: true,
      position: isLeft ? ('left' as const) : ('right' as const),
      offset: isLeft ? [0, 0] : [2, below],
      formatter: `${share.toUpperCase()} ${ms(value)}${isNarrow ? '' : ' ms'}`,
      color: 'var(--text)',
    };
  };
  const { p50 = 0, p95 = 0 } = summaries[at] ?? {};
  return {
    name,
    type: 'scatter' as const,
    symbolSize: 9,
    itemStyle: { color: lookOf(at).color, opacity: 1 },
    data: [
      { value: [p50, 50], label: label('p50', p50) },
      { value: [p95, 95], label: label('p95', p95) },
    ],
  };
}

/** Mean milliseconds of each part of an answer's time. */
export interface Parts {
  readonly name: string;
  /** By the part's name, in the order of time. */
  readonly parts: Readonly<Record<string, number>>;
}

/** Pixels of a letter, of the gap between a name and its bar, and the most that names may take; longer ones are broken. */
const LETTER = 7;
const GAP = 12;
const MOST = { wide: 220, narrow: 110 };

function roomForNames(rows: readonly Parts[], isNarrow: boolean): number {
  const longest = Math.max(...rows.map(({ name }) => name.length));
  return Math.min(isNarrow ? MOST.narrow : MOST.wide, GAP + LETTER * longest);
}

/** A bar for each row, its parts one after another. */
export function partsChart(rows: readonly Parts[]): Chart {
  const parts = [...new Set(rows.flatMap(({ parts }) => Object.keys(parts)))];
  const told = rows.map(({ name, parts: each }) => {
    const figures = Object.entries(each).map(([part, value]) => `${part} ${ms(value)} ms`);
    return `${name}: ${figures.join(', ')}.`;
  });
  return {
    description: `Where the time of an answer went, on average. ${told.join(' ')}`,
    height: 64 + 34 * rows.length,
    legend: { names: parts, of: 'bars' },
    option: (isNarrow) => {
      const left = roomForNames(rows, isNarrow);
      return {
        grid: { left, right: 24, top: 8, bottom: 48 },
        xAxis: numbers('milliseconds, mean'),
        yAxis: {
          ...names(rows.map(({ name }) => name)),
          axisLabel: {
            color: 'var(--text)',
            width: left - GAP,
            overflow: 'break',
          },
        },
        series: parts.map((part, at) => ({
          name: part,
          type: 'bar',
          stack: 'time',
          barWidth: 20,
          itemStyle: { color: lookOf(at).color, borderColor: 'var(--back)', borderWidth: 1 },
          data: rows.map(({ parts: each }) => each[part] ?? 0),
        })),
      };
    },
  };
}
