/** Bar charts of results as SVG. */
import { drawSvg } from 'sagemaker-tfs/development/output';
import { type Chart, figure } from './bench.ts';

const WIDTH = 800;
const BAR_HEIGHT = 28;
const FRAME_HEIGHT = 112;
/** Contrast with white: 6.1 and 4.9. */
const COLORS = { ours: '#0b5cad', others: '#6b7078' };

/** Horizontal bars from zero in the order given, the first on top; those of this project stand out. */
export function barChart({ title, conditions, unit, bars }: Chart): string {
  const size = { width: WIDTH, height: FRAME_HEIGHT + BAR_HEIGHT * bars.length };
  return drawSvg(
    {
      title: {
        text: title,
        subtext: conditions,
        textStyle: { fontSize: 14 },
        subtextStyle: { fontSize: 11, color: '#54555a' },
        itemGap: 6,
      },
      grid: { left: 315, right: 70, top: 62, bottom: 45 },
      xAxis: {
        type: 'value',
        name: unit,
        nameLocation: 'middle',
        nameGap: 25,
      },
      yAxis: { type: 'category', inverse: true, data: bars.map(({ name }) => inWords(name)) },
      series: [
        {
          type: 'bar',
          barWidth: 16,
          data: bars.map(({ name, value }) => ({
            value,
            itemStyle: { color: isOurs(name) ? COLORS.ours : COLORS.others },
          })),
          label: { show: true, position: 'right', formatter: ({ value }) => figure(Number(value)) },
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
