/**
 * `sagemaker-tfs/development/output`: charts, tables and latencies as the command shows them, for this repository's own
 * benchmarks, demo and tests. It is not published.
 */
export { explain } from '../errors.ts';
export { interruptSignal } from '../interrupt.ts';
export { chartAxis, chartTitle, svgFile } from '../output/chart.ts';
export { type LatencySummary, summarize } from '../output/latency.ts';
export { LIGHT } from '../output/palette.ts';
export { ms, table } from '../output/print.ts';
