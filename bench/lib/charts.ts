/** Bar charts of results as SVG. */
import { drawSvg } from 'sagemaker-tfs/development/output';
import { type Chart, figure } from './bench.ts';

const WIDTH = 800;
const BAR_HEIGHT = 28;
const FRAME_HEIGHT = 90;

/** Horizontal bars in the order given, the first on top. */
export function barChart({ title, unit, logarithmic, bars }: Chart): string {
  const size = { width: WIDTH, height: FRAME_HEIGHT + BAR_HEIGHT * bars.length };
  return drawSvg(
    {
      title: { text: title, textStyle: { fontSize: 14 } },
      grid: { left: 285, right: 70, top: 40, bottom: 45 },
      xAxis: {
        type: logarithmic ? 'log' : 'value',
        name: unit,
        nameLocation: 'middle',
        nameGap: 25,
      },
      yAxis: { type: 'category', inverse: true, data: bars.map(({ name }) => name) },
      series: [
        {
          type: 'bar',
          barWidth: 16,
          data: bars.map(({ value }) => value),
          label: { show: true, position: 'right', formatter: ({ value }) => figure(Number(value)) },
        },
      ],
    },
    size,
  );
}
