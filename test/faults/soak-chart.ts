/** The chart of a steady load: a panel for each measure, so that none needs a legend. */
import { chartAxis, chartTitle, LIGHT, svgFile } from 'sagemaker-tfs/development/output';

/** One minute, as the page's table has it. */
interface ChartedMinute {
  readonly minute: number;
  readonly p95: number;
  readonly memoryMiB: number;
  readonly descriptors: number;
}

const PANEL = { height: 110, gap: 50 };
const TOP = 84;
const SIZE = { width: 800, height: TOP + 3 * PANEL.height + 2 * PANEL.gap + 50 };

/** @param conditions what was in flight, where */
export function soakChart(minutes: readonly ChartedMinute[], conditions: string): string {
  const panels = [
    { title: 'Memory of all processes, MiB', of: (one: ChartedMinute) => one.memoryMiB },
    { title: 'P95 of a request, ms', of: (one: ChartedMinute) => one.p95 },
    { title: 'Open descriptors', of: (one: ChartedMinute) => one.descriptors },
  ];
  const top = (index: number) => TOP + index * (PANEL.height + PANEL.gap);
  return svgFile(
    `A steady load by the minute: ${panels.map(({ title }) => title).join('; ')}.`,
    {
      title: [
        chartTitle('A steady load', conditions),
        ...panels.map(({ title }, index) => ({
          text: title,
          left: 60,
          top: top(index) - 24,
          textStyle: { fontSize: 12, fontWeight: 'normal' as const, color: LIGHT.text },
        })),
      ],
      grid: panels.map((_, index) => ({
        left: 60,
        right: 30,
        top: top(index),
        height: PANEL.height,
      })),
      xAxis: panels.map((_, index) =>
        chartAxis({
          type: 'value',
          gridIndex: index,
          ...(index === panels.length - 1 && { name: 'minutes' }),
        }),
      ),
      yAxis: panels.map((_, index) => chartAxis({ type: 'value', gridIndex: index, min: 0 })),
      series: panels.map(({ of }, index) => ({
        type: 'line' as const,
        xAxisIndex: index,
        yAxisIndex: index,
        showSymbol: false,
        lineStyle: { color: LIGHT.c1 },
        data: minutes.map((one): [number, number] => [one.minute, of(one)]),
      })),
    },
    SIZE,
  );
}

/** The rows of the page's table. */
export function minutesOf(page: string): ChartedMinute[] {
  const [, table = ''] = page.split('| minute | requests | P50, ms | P95, ms |');
  return [...table.matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(([, minute, rest = '']) => {
    const [, , p95, memoryMiB, descriptors] = rest.split('|').map(Number);
    return {
      minute: Number(minute),
      p95: p95 ?? Number.NaN,
      memoryMiB: memoryMiB ?? Number.NaN,
      descriptors: descriptors ?? Number.NaN,
    };
  });
}
