/** `demo-report.html`: the demo's figures and charts in one file that needs no network. */
import { rename, writeFile } from 'node:fs/promises';
import { shortFingerprint } from '@sagemaker-tfs/manifest';
import { distributionChart, lineChart, ms } from 'sagemaker-tfs/development/output';
import type { BatchRun } from './batch.ts';
import type { TransportLatency } from './latency.ts';

/** What the report tells. */
export interface DemoFigures {
  readonly archive: { readonly bytes: number; readonly fingerprint: string };
  readonly modelServer: string;
  readonly startMilliseconds: number;
  readonly latency: readonly TransportLatency[];
  readonly batch: BatchRun;
  readonly accuracy: number;
}

/** Writes the report, complete or not at all. */
export async function writeReport(path: string, figures: DemoFigures): Promise<void> {
  const partial = `${path}.partial`;
  await writeFile(partial, page(figures));
  await rename(partial, path);
}

function page({ archive, modelServer, startMilliseconds, latency, batch, accuracy }: DemoFigures) {
  const { job } = batch;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>From SavedModel to served prediction</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 780px; margin: 2rem auto; padding: 0 1rem; color: #222 }
  table { border-collapse: collapse; margin: 1rem 0 }
  td, th { border-bottom: 1px solid #ddd; padding: .3rem .8rem; text-align: right }
  td:first-child, th:first-child { text-align: left }
  svg { max-width: 100%; height: auto }
</style>
<h1>From SavedModel to served prediction</h1>
<p><code>examples/digits</code>, packaged (${archive.bytes} bytes, fingerprint
<code>${shortFingerprint(archive.fingerprint)}</code>), laid out as SageMaker does and served by the runtime in front of
${modelServer}; healthy ${ms(startMilliseconds)} ms after its start.</p>
<h2>One image after another</h2>
${latencyTable(latency)}
${distributionChart(
  'Latency of one image',
  'milliseconds',
  latency.map(({ transport, milliseconds }) => ({ name: transport, values: milliseconds })),
)}
<h2>Batch transform on this machine</h2>
<p>${job.done} images in ${job.seconds.toFixed(1)} s, ${job.maxConcurrentTransforms} in flight:
<strong>${(job.done / job.seconds).toFixed(0)} images a second</strong>; ${job.failed} failed;
accuracy <strong>${(100 * accuracy).toFixed(2)}%</strong> against the labels.</p>
${lineChart('Batch throughput', { x: 'seconds', y: 'images/s' }, [{ name: 'images a second', points: batch.rate }])}
</html>
`;
}

function latencyTable(latency: readonly TransportLatency[]): string {
  const rows = latency.map(
    ({ transport, summary, correct }) =>
      `<tr><td>${transport}</td><td>${[summary.mean, summary.p50, summary.p90, summary.p95]
        .map(ms)
        .join('</td><td>')}</td><td>${correct}/${summary.count}</td></tr>`,
  );
  return `<table><tr><th>transport</th><th>mean ms</th><th>P50 ms</th><th>P90 ms</th><th>P95 ms</th><th>correct</th></tr>
${rows.join('\n')}</table>`;
}
