/** What `bench` shows to people: a row for each transport. */
import type { TransportResult } from '../bench/bench-run.ts';
import { columns } from '../output/columns.ts';
import { ms } from '../output/print.ts';
import { type Style, shortBytes } from '../output/style.ts';

/** @param requests over each transport @param inFlight at a time */
export function benchLines(
  results: readonly TransportResult[],
  { requests, inFlight }: { readonly requests: number; readonly inFlight: number },
  style: Style,
): string[] {
  const head = ['transport', 'mean', 'P50', 'P90', 'P95', 'P99', 'first', 'a second', 'answer'];
  const rows = results.map(({ transport, latency, firstMs, requestsPerSecond, responseBytes }) => [
    transport,
    ...[latency.mean, latency.p50, latency.p90, latency.p95, latency.p99, firstMs].map(ms),
    requestsPerSecond.toFixed(1),
    shortBytes(responseBytes),
  ]);
  // The only way needs no name.
  const from = results.length > 1 ? 0 : 1;
  const table = [head, ...rows].map((row) => row.slice(from));
  const [titles = [], ...lines] = columns(table, style.width - 2);
  const each = `${requests} request${requests === 1 ? '' : 's'}${results.length > 1 ? ' each' : ''}`;
  return [
    `${style.good('✓')} ${each} · ${inFlight} at a time · milliseconds`,
    '',
    ...titles.map((line) => `  ${style.quiet(line)}`),
    ...lines.flat().map((line) => `  ${line}`),
  ];
}
