/** `demo-report.html`: what the demo did, in one file that needs no network. */
import { shortFingerprint } from '@sagemaker-tfs/manifest';
import { ms } from 'sagemaker-tfs/development/output';
import {
  awsSection,
  figure,
  html,
  latencyChart,
  partsByName,
  partsChart,
  rateChart,
  reportPage,
  runFacts,
  type Section,
  type TimedStep,
  tableHtml,
  timelineChart,
  writeWhole,
} from 'sagemaker-tfs/development/report';
import { type Answered, accuracy } from './answers.ts';
import type { BatchRun } from './batch.ts';
import { CONFUSION_STYLE, confusion } from './confusion.ts';
import type { TransportLatency } from './latency.ts';
import { WALL_STYLE, wall } from './wall.ts';

/** What the report shows. */
interface DemoFigures {
  readonly archive: { readonly bytes: number; readonly fingerprint: string };
  readonly modelServer: string;
  readonly startMilliseconds: number;
  readonly latency: readonly TransportLatency[];
  readonly batch: BatchRun;
  readonly answers: readonly Answered[];
  /** Folder of the batch's images. */
  readonly images: string;
  /** Mean bytes of an image, and of the answer to it. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly steps: readonly TimedStep[];
}

/** Writes the report, complete or not at all. */
export async function writeReport(path: string, figures: DemoFigures): Promise<void> {
  await writeWhole(path, await demoReport(figures));
}

/** The page. */
export async function demoReport(figures: DemoFigures): Promise<string> {
  const { archive, modelServer, startMilliseconds, latency, batch, answers, images, steps } =
    figures;
  const fingerprint = shortFingerprint(archive.fingerprint);
  const run = runFacts({ 'tfs-fingerprint': fingerprint, 'tfs-model-version': '1' }, modelServer);
  return reportPage({
    title: 'From SavedModel to served prediction',
    result: resultOf(figures),
    sections: [
      { heading: 'What the model read', body: await wall(images, answers) },
      { heading: 'What it takes for what', body: confusion(answers) },
      latencySection(latency),
      partsSection(latency),
      batchSection(batch),
      await awsSection(speedOf(figures), run.machine),
      { heading: 'Timeline of the demo', body: figure(timelineChart(steps)) },
    ],
    run,
    facts: {
      Archive: `examples/digits, packaged: ${archive.bytes} bytes`,
      Start: `healthy ${ms(startMilliseconds)} ms after its start`,
    },
    next: { heading: 'Do this with your model', commands: COMMANDS },
    style: WALL_STYLE + CONFUSION_STYLE,
  });
}

const COMMANDS = [
  {
    purpose: 'Serve it, and drop a picture on the page that opens:',
    line: 'npx sagemaker-tfs serve path/to/saved_model',
  },
  {
    purpose: 'Package it with a handler, checked by TensorFlow:',
    line: 'npx sagemaker-tfs package path/to/saved_model --handler inference.ts --out model.tar.gz',
  },
  {
    purpose: 'Run a folder through it, with a page like this:',
    line: 'npx sagemaker-tfs batch local images/ --out outputs/ --model model.tar.gz --report batch.html',
  },
];

function resultOf({ answers, batch: { job }, latency }: DemoFigures) {
  const fastest = [...latency].sort((a, b) => a.summary.p50 - b.summary.p50)[0];
  return html`${(100 * accuracy(answers)).toFixed(2)}% of ${answers.length.toLocaleString('en')} digits that the model never saw
are read right, ${(job.done / job.seconds).toFixed(0)} a second;${
    fastest &&
    ` one alone takes ${ms(fastest.summary.p50)} ms over ${fastest.transport}, 95% at most ${ms(fastest.summary.p95)} ms.`
  }`;
}

function speedOf({ batch: { job }, inputBytes, outputBytes }: DemoFigures) {
  return {
    of: 'images',
    perSecond: job.done / job.seconds,
    seconds: job.seconds,
    inputBytes,
    outputBytes,
    under: `${job.maxConcurrentTransforms} in flight`,
  };
}

function latencySection(latency: readonly TransportLatency[]): Section {
  const series = latency.map(({ transport, milliseconds }) => ({ name: transport, milliseconds }));
  const heads = ['mean', 'P50', 'P90', 'P95', 'right'];
  const table = tableHtml(
    'Milliseconds of one image, one after another in one process',
    [{ head: 'transport' }, ...heads.map((head) => ({ head, isNumber: true }))],
    latency.map(({ transport, summary, correct }) => [
      transport,
      ...[summary.mean, summary.p50, summary.p90, summary.p95].map(ms),
      `${correct}/${summary.count}`,
    ]),
  );
  return {
    heading: 'One image after another',
    body: html`${figure(latencyChart(series))}${table}`,
  };
}

function partsSection(latency: readonly TransportLatency[]): Section | undefined {
  const timed = latency.flatMap(({ transport, parts }) =>
    parts ? [{ name: transport, parts: partsByName(parts) }] : [],
  );
  if (timed.length === 0) return undefined;
  const table = tableHtml(
    'Mean milliseconds of each part',
    [{ head: 'part' }, ...timed.map(({ name }) => ({ head: name, isNumber: true }))],
    Object.keys(timed[0]?.parts ?? {}).map((part) => [
      part,
      ...timed.map(({ parts }) => ms(parts[part] ?? 0)),
    ]),
  );
  return { heading: 'Where the time goes', body: html`${figure(partsChart(timed))}${table}` };
}

function batchSection({ job, rate }: BatchRun): Section {
  return {
    heading: 'Batch transform on this machine',
    body: html`<p>${job.done.toLocaleString('en')} images in ${job.seconds.toFixed(1)} s, ${job.maxConcurrentTransforms} in flight:
<strong>${(job.done / job.seconds).toFixed(0)} images a second</strong>; ${job.failed} failed.</p>
${rate.length > 1 && figure(rateChart({ of: 'images', points: rate }))}`,
  };
}
