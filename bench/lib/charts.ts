/** Bar charts of results as SVG. */
import { chartAxis, chartTitle, LIGHT, svgFile } from 'sagemaker-tfs/development/output';
import { type Chart, figure } from './bench.ts';

const WIDTH = 800;
const BAR_HEIGHT = 28;
const FRAME_HEIGHT = 112;
/** Of a letter of a bar's name, at most. */
const LETTER_WIDTH = 6.4;

/** Horizontal bars from zero in the order given, the first on top; those of this project stand out beside others. */
export function barChart({ title, conditions, unit, bars }: Chart): string {
  const size = { width: WIDTH, height: FRAME_HEIGHT + BAR_HEIGHT * bars.length };
  const names = bars.map(({ name }) => inWords(name));
  const isCompared = bars.some(({ name }) => isOurs(name));
  const left = 24 + LETTER_WIDTH * Math.max(...names.map((name) => name.length));
  return svgFile(
    `${title}, ${unit}. ${bars.map(({ value }, at) => `${names[at]}: ${figure(value)}`).join('. ')}.`,
    {
      title: chartTitle(title, conditions),
      grid: { left, right: 70, top: 62, bottom: 45 },
      xAxis: chartAxis({ type: 'value', name: unit }),
      yAxis: chartAxis({ type: 'category', inverse: true, data: names, axisTick: { show: false } }),
      series: [
        {
          type: 'bar',
          barWidth: 16,
          data: bars.map(({ name, value }) => ({
            value,
            itemStyle: { color: isCompared && !isOurs(name) ? LIGHT.c5 : LIGHT.c1 },
          })),
          label: {
            show: true,
            position: 'right',
            color: LIGHT.text,
            textBorderWidth: 0,
            formatter: ({ value }) => figure(Number(value)),
          },
        },
      ],
    },
    size,
  );
}

const isOurs = (name: string) => name.startsWith('ours, ') || name === 'writeTensorJson';

/** The name of a bar for who has not read the tables. */
function inWords(name: string): string {
  return name.replace(/^ours, /, 'this project, ').replace(/^writeTensorJson$/, 'this project');
}
