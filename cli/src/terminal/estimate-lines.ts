/** What `estimate` shows to people: a row for each way, below the instances that it is for. */
import type { Estimate } from '../estimate/estimate.ts';
import { printable } from '../output/printable.ts';
import type { Style } from '../output/style.ts';
import { columns } from './columns.ts';

const HEAD = ['way', 'hours', 'jobs', 'instances', 'S3', 'data', 'total', 'a million'];

/** @param notes what the figures rest on, a sentence or more each */
export function estimateLines(
  estimates: readonly Estimate[],
  notes: readonly string[],
  style: Style,
): string[] {
  const kinds = [...new Set(estimates.map(kindOf))];
  const tables = kinds.flatMap((kind) => {
    const rows = estimates.filter((one) => kindOf(one) === kind).map(cellsOf);
    const [titles = [], ...lines] = columns([HEAD, ...rows], style.width - 2);
    return [
      style.strong(printable(kind)),
      ...titles.map((line) => `  ${style.quiet(line)}`),
      ...lines.flat().map((line) => `  ${line}`),
      '',
    ];
  });
  return [...tables, ...notes.map(printable)];
}

const kindOf = ({ instanceCount, instanceType }: Estimate) => `${instanceCount} x ${instanceType}`;

function cellsOf(one: Estimate): string[] {
  const dollars = [one.instanceCost, one.requestCost, one.dataCost, one.cost, one.costPerMillion];
  return [
    one.way,
    one.hours.toFixed(1),
    one.jobs === 0 ? '-' : String(one.jobs),
    ...dollars.map((value) => `$${value.toFixed(2)}`),
  ];
}
