/** Charts as SVG text, drawn without a browser, for reports and pages that are read offline. */
import { type EChartsOption, init } from 'echarts';
import { DARK, LIGHT, SERIES } from './palette.ts';

/** Pixels. */
const SIZE = { width: 760, height: 320 };

/** Draws an ECharts option as one `<svg>` element. */
export function drawSvg(option: EChartsOption, size: typeof SIZE): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption({ animation: false, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // Rules for a pointer, which a chart without a script has no use for.
  return svg
    .replace(/<style[\s\S]*?<\/style>\n?/g, '')
    .replace(/ (?:class|ecmeta_[a-z_]+)="[^"]*"/g, '');
}

/**
 * A chart as a file: on white, and on a dark ground for who prefers that. All its colors are of {@link LIGHT}.
 * @param description its text alternative
 */
export function svgFile(description: string, option: EChartsOption, size = SIZE): string {
  const svg = drawSvg({ backgroundColor: LIGHT.back, ...option }, size);
  const names = Object.keys(LIGHT) as (keyof typeof LIGHT)[];
  const rules = new Map(
    names.flatMap((name) =>
      (['fill', 'stroke'] as const)
        .map((paint) => [`${paint}="${LIGHT[name]}"`, `${paint}:${DARK[name]}`] as const)
        .filter(([attribute]) => svg.includes(attribute)),
    ),
  );
  const dark = [...rules].map(([attribute, rule]) => `[${attribute}]{${rule}}`);
  const style = `<style>@media (prefers-color-scheme:dark){${dark.join('')}}</style>`;
  return svg
    .replace(/^<svg /, `<svg role="img" aria-label="${inAttribute(description)}" `)
    .replace('>', `>\n${style}`);
}

const inAttribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** A title above a chart, and a line below it in smaller letters. */
export function chartTitle(text: string, subtext?: string) {
  return {
    text,
    textStyle: { fontSize: 14, color: LIGHT.text },
    ...(subtext !== undefined && { subtext }),
    subtextStyle: { fontSize: 11, color: LIGHT.quiet },
    itemGap: 6,
  } as const;
}

/** An axis in the colors of {@link svgFile}. */
export function chartAxis<const T extends object>(axis: T) {
  return {
    nameLocation: 'middle',
    nameGap: 25,
    nameTextStyle: { color: LIGHT.quiet },
    axisLine: { lineStyle: { color: LIGHT.line } },
    axisTick: { lineStyle: { color: LIGHT.line } },
    axisLabel: { color: LIGHT.quiet, hideOverlap: true },
    splitLine: { lineStyle: { color: LIGHT.grid } },
    ...axis,
  } as const;
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
  return svgFile(`${title}: ${axes.y} over ${axes.x}`, {
    color: SERIES.map((name) => LIGHT[name]),
    title: chartTitle(title),
    legend: { bottom: 0, textStyle: { color: LIGHT.text } },
    grid: { left: 70, right: 30, top: 50, bottom: 70 },
    xAxis: chartAxis({ type: 'value', name: axes.x, scale: true }),
    yAxis: chartAxis({ type: 'value', name: axes.y, nameGap: 44 }),
    series: series.map(({ name, points }) => ({
      name,
      type: 'line',
      showSymbol: points.length < 40,
      data: points.map(([x, y]) => [x, y]),
    })),
  });
}
