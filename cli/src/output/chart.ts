/** Charts as SVG text, drawn without a browser, for reports that are read offline. */
import { type EChartsOption, init } from 'echarts';

/** Pixels. */
const SIZE = { width: 760, height: 320 };

/** Draws an ECharts option as one `<svg>` element. */
export function drawSvg(option: EChartsOption, size = SIZE): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption({ animation: false, backgroundColor: '#fff', ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** Values one after another, for example a rate over time. */
export function lineChart(
  title: string,
  axes: { readonly x: string; readonly y: string },
  series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [number, number])[];
  }[],
): string {
  return drawSvg({
    title: { text: title },
    legend: { bottom: 0 },
    grid: { left: 70, right: 30, top: 50, bottom: 70 },
    xAxis: { type: 'value', name: axes.x, nameLocation: 'middle', nameGap: 25, scale: true },
    yAxis: { type: 'value', name: axes.y },
    series: series.map(({ name, points }) => ({
      name,
      type: 'line',
      showSymbol: points.length < 40,
      data: points.map(([x, y]) => [x, y]),
    })),
  });
}
