/**
 * `sagemaker-tfs/development/report`: the pages that `--report` writes, in parts, for the demo. It is not published.
 */
export type { PartTimes } from '../bench/bench-run.ts';
export { partSums } from '../bench/part-times.ts';
export { runFacts } from '../bench/run-facts.ts';
export { writeWhole } from '../output/write-whole.ts';
export { awsSection } from '../report/aws-cost.ts';
export { figure } from '../report/figure.ts';
export { type Html, html, tableHtml } from '../report/html.ts';
export { latencyChart, partsChart } from '../report/latency-chart.ts';
export { reportPage, type Section } from '../report/page.ts';
export { partsByName } from '../report/part-names.ts';
export { rateChart, type TimedStep, timelineChart } from '../report/time-charts.ts';
