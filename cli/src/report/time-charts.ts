/** Charts over time: a rate, and steps one after another. */
import { type Chart, lookOf, names, numbers } from './figure.ts';

/** A rate over time. */
export interface Rate {
  /** What is counted, for example `inputs`. */
  readonly of: string;
  /** [seconds since the start, how many a second since the point before]. */
  readonly points: readonly (readonly [number, number])[];
}

export function rateChart({ of, points }: Rate): Chart {
  const rates = points.map(([, rate]) => rate);
  const text = (rate: number) => rate.toFixed(rate >= 10 ? 0 : 1);
  const told = `between ${text(Math.min(...rates))} and ${text(Math.max(...rates))} a second`;
  return {
    description: `${of} a second over ${(points.at(-1)?.[0] ?? 0).toFixed(1)} seconds, ${told}.`,
    height: 260,
    option: () => ({
      grid: { left: 60, right: 24, top: 12, bottom: 48 },
      xAxis: numbers('seconds since the start', { min: 0 }),
      yAxis: numbers(`${of} a second`, { min: 0, nameGap: 44 }),
      series: [
        {
          type: 'line',
          symbol: 'circle',
          symbolSize: 5,
          showSymbol: points.length < 40,
          areaStyle: { color: lookOf(0).color, opacity: 0.15 },
          itemStyle: { color: lookOf(0).color },
          lineStyle: { width: 2, color: lookOf(0).color },
          data: points.map(([x, y]) => [x, y]),
        },
      ],
    }),
  };
}

/** A step of a run, seconds since the start. */
export interface TimedStep {
  readonly name: string;
  readonly from: number;
  readonly seconds: number;
}

/** A bar for each step, where and as long as it ran. */
export function timelineChart(steps: readonly TimedStep[]): Chart {
  const told = steps.map(({ name, seconds }) => `${name}: ${seconds.toFixed(1)} s`);
  return {
    description: `Steps of the run and how long each took. ${told.join('. ')}.`,
    height: 60 + 28 * steps.length,
    option: (isNarrow) => ({
      grid: { left: isNarrow ? 130 : 340, right: 60, top: 4, bottom: 48 },
      xAxis: numbers('seconds since the start', { min: 0 }),
      yAxis: {
        ...names(steps.map(({ name }) => name)),
        axisLabel: { color: 'var(--text)', width: isNarrow ? 122 : 330, overflow: 'truncate' },
      },
      series: [
        {
          type: 'bar',
          stack: 'time',
          barWidth: 16,
          itemStyle: { color: 'transparent' },
          data: steps.map(({ from }) => from),
        },
        {
          type: 'bar',
          stack: 'time',
          barWidth: 16,
          itemStyle: { color: lookOf(0).color },
          label: {
            show: true,
            position: 'right',
            color: 'var(--text)',
            formatter: ({ dataIndex }) => `${steps[dataIndex]?.seconds.toFixed(1)} s`,
          },
          data: steps.map(({ seconds }) => seconds),
        },
      ],
    }),
  };
}
