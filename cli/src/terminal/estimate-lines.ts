/** What `estimate` shows to people: a row for each way, below the instances that it is for. */
import { COST_HEADS, costColumns, instancesOf, type PricedWay } from '../estimate/basis.ts';
import { CHANGES } from '../estimate/sensitivity.ts';
import { columns } from '../output/columns.ts';
import { printable } from '../output/printable.ts';
import type { Style } from '../output/style.ts';
import { usd } from '../output/usd.ts';

const HEAD = ['way', 'hours', 'jobs', ...COST_HEADS, 'total', 'a million'];
const IF_HEAD = ['total if', ...CHANGES.map(({ text }) => text)];

/** @param notes what the figures rest on, a sentence or more each */
export function estimateLines(
  estimates: readonly PricedWay[],
  notes: readonly string[],
  style: Style,
): string[] {
  const kinds = [...new Set(estimates.map(instancesOf))];
  const tables = kinds.flatMap((kind) => {
    const some = estimates.filter((one) => instancesOf(one) === kind);
    const lines = [
      ...rowsOf(HEAD, some.map(cellsOf), style),
      '',
      ...rowsOf(IF_HEAD, some.map(changedCellsOf), style),
    ];
    return [style.strong(printable(kind)), ...lines.map((line) => (line ? `  ${line}` : '')), ''];
  });
  return [...tables, ...notes.map(printable)];
}

function rowsOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string[] {
  const [titles = [], ...lines] = columns([head, ...rows], style.width - 2);
  return [...titles.map((line) => style.quiet(line)), ...lines.flat()];
}

/** Cents where they matter. */
const dollars = (value: number) => usd(value, value < 100 ? 2 : 0);

function cellsOf(one: PricedWay): string[] {
  return [
    one.way,
    one.hours.toFixed(1),
    one.jobs === 0 ? '-' : String(one.jobs),
    ...[...costColumns(one.costs), one.cost, one.costPerMillion].map(dollars),
  ];
}

function changedCellsOf({ way, sensitivity }: PricedWay): string[] {
  const costs = CHANGES.map(({ name }) => sensitivity[name]);
  return [way, ...costs.map((cost) => (cost === undefined ? '-' : dollars(cost)))];
}
