/** What `tune` shows to people: a row for each setting with a bar of its throughput, and the one to run with. */

import { columns } from '../output/columns.ts';
import { ms } from '../output/print.ts';
import { behind, type Style } from '../output/style.ts';
import { isHighestTried, NEAR_BEST, type Point } from '../tune/point.ts';
import { serverText } from '../tune/server-text.ts';
import { bar, roomForBars } from './bar.ts';

/** Columns of a bar. */
const BAR = 14;

/** A column of the rows. */
interface Column {
  readonly head: string;
  readonly cell: (point: Point) => string;
}

/** @param knee the point to run with, if there is one */
export function tuneLines(
  points: readonly Point[],
  knee: Point | undefined,
  style: Style,
): string[] {
  const shown = columnsFor(points);
  const best = Math.max(...points.map(({ imagesPerSecond }) => imagesPerSecond), 0) || 1;
  const heads = shown.map(({ head }) => head);
  const rows = points.map((point) => shown.map(({ cell }) => cell(point)));
  const bars = points.map(({ imagesPerSecond }) => bar(imagesPerSecond / best, roomForBars(BAR)));
  const room = style.width - 2;
  const withBars = columns(
    [[...heads, ''], ...rows.map((row, at) => [...row, bars[at] ?? ''])],
    room,
  );
  const isWide = withBars[0]?.length === 0;
  const [titles = [], ...lines] = isWide ? columns([heads, ...rows], room) : withBars;
  return [
    ...titles.map((line) => `  ${style.quiet(line)}`),
    ...lines.flatMap((row, at) =>
      row.map((line) =>
        points[at] === knee ? `${style.good('❯')} ${style.strong(line)}` : `  ${line}`,
      ),
    ),
    ...(knee ? ['', ...kneeLines(knee, points, style)] : []),
  ];
}

/** Those that tell points apart, and the figures. */
function columnsFor(points: readonly Point[]): Column[] {
  const differ = (cell: Column['cell']) => new Set(points.map(cell)).size > 1;
  const servers = (point: Point) => serverText(point.server);
  return [
    ...(differ(({ where }) => where) ? [{ head: 'where', cell: ({ where }: Point) => where }] : []),
    ...(differ(servers) ? [{ head: 'server', cell: servers }] : []),
    { head: 'a request', cell: ({ batchSize }) => String(batchSize) },
    { head: 'in flight', cell: ({ concurrency }) => String(concurrency ?? '-') },
    { head: 'images/s', cell: ({ imagesPerSecond }) => imagesPerSecond.toFixed(1) },
    { head: 'P50 ms', cell: ({ p50 }) => ms(p50) },
    { head: 'P95 ms', cell: ({ p95 }) => (p95 === undefined ? '-' : ms(p95)) },
    ...(points.some(({ errors }) => errors > 0)
      ? [{ head: 'errors', cell: ({ errors }: Point) => String(errors) }]
      : []),
    ...(points.some(({ dollarsPerMillion }) => dollarsPerMillion !== undefined)
      ? [
          {
            head: '$ a million',
            cell: ({ dollarsPerMillion }: Point) => dollarsPerMillion?.toFixed(2) ?? '-',
          },
        ]
      : []),
  ];
}

const HIGHEST = 'the highest load tried; more may give more: raise --max-concurrency';

function kneeLines(knee: Point, points: readonly Point[], style: Style): string[] {
  const setting = `${knee.concurrency} in flight, ${knee.batchSize} a request, ${serverText(knee.server)}`;
  const why = `the lowest P95 within ${Math.round(100 * (1 - NEAR_BEST))}% of the best throughput`;
  return [
    ...behind(`${style.good('✓')} `, `run with ${setting}`, style.width),
    ...[why, ...(isHighestTried(knee, points) ? [HIGHEST] : [])].flatMap((text) =>
      behind('  ', text, style.width).map(style.quiet),
    ),
  ];
}
