/** Throughput against latency: what each setting reaches, and which one to run with. */
import { ms } from '../output/print.ts';
import type { Point } from '../tune/point.ts';
import { curveText } from '../tune/server-text.ts';
import { type Chart, lookOf, numbers } from './figure.ts';

const latencyOf = ({ p95, p50 }: Point) => p95 ?? p50;

/** A curve for each setting of the server, with its points in the order of the load. */
export function loadChart(points: readonly Point[], knee: Point | undefined): Chart {
  const curves = [...new Set(points.map(curveText))];
  return {
    description: [
      `Images a second against P95 latency for ${points.length} settings.`,
      ...(knee
        ? [`Chosen: ${knee.imagesPerSecond.toFixed(1)} a second at ${ms(latencyOf(knee))} ms.`]
        : []),
      'The table below has every point.',
    ].join(' '),
    caption:
      'Right is faster, low is sooner. The numbers are requests in flight; the ring is the chosen setting.',
    legend: { names: curves, of: 'lines' },
    option: (isNarrow) => ({
      // The ring may be at either end, and its label beside or below it must not be cut off.
      grid: { left: isNarrow ? 56 : 110, right: isNarrow ? 48 : 30, top: 24, bottom: 48 },
      xAxis: numbers('images a second', { scale: true }),
      yAxis: numbers('P95, ms', { nameGap: 40 }),
      series: [
        ...curves.map((name, at) => ({
          name,
          type: 'line' as const,
          symbol: lookOf(at).symbol,
          symbolSize: 8,
          itemStyle: { color: lookOf(at).color },
          lineStyle: { type: lookOf(at).line, width: 2, color: lookOf(at).color },
          labelLayout: { hideOverlap: true },
          data: points
            .filter((point) => curveText(point) === name)
            .map((point) => dot(point, !isNarrow && point !== knee)),
        })),
        ...(knee ? [ring(knee, isNarrow)] : []),
      ],
    }),
  };
}

function dot(point: Point, isNamed: boolean) {
  const { concurrency, imagesPerSecond } = point;
  return {
    value: [imagesPerSecond, latencyOf(point)],
    label: {
      show: isNamed && concurrency !== undefined,
      formatter: String(concurrency ?? ''),
      position: 'top' as const,
      color: 'var(--text)',
    },
  };
}

function ring(knee: Point, isNarrow: boolean) {
  return {
    name: curveText(knee),
    type: 'scatter' as const,
    symbol: 'circle',
    symbolSize: 20,
    itemStyle: { color: 'transparent', borderColor: 'var(--good)', borderWidth: 3, opacity: 1 },
    data: [[knee.imagesPerSecond, latencyOf(knee)]],
    label: {
      show: true,
      position: isNarrow ? ('bottom' as const) : ('left' as const),
      distance: 8,
      formatter: `${knee.concurrency} in flight`,
      color: 'var(--good)',
      fontWeight: 'bold' as const,
    },
  };
}
