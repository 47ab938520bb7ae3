/**
 * `npm run demo`: a real model from SavedModel to served predictions, on this machine, end to end.
 * `--out FOLDER` puts everything there instead of `demo-out` and `demo-report.html`.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureLibrary, progressBar } from '@sagemaker-tfs/libtensorflow';
import { explain, interruptSignal, ms, table } from 'sagemaker-tfs/development/output';
import * as z from 'zod';
import { writeTestDigits } from '../examples/digits/make-images.ts';
import { accuracy, meanSizes, readAnswers } from './answers.ts';
import { BATCH_SIZE, runBatch } from './batch.ts';
import { runCommand, type Serving, serve } from './command.ts';
import { measureLatency } from './latency.ts';
import { writeReport } from './report.ts';
import { elapsedSeconds, type Step, stepper, timeline } from './steps.ts';

const root = join(import.meta.dirname, '..');
const digits = join(root, 'examples', 'digits');
const { values: options } = parseArgs({ options: { out: { type: 'string' } } });
const out = options.out ? resolve(options.out) : join(root, 'demo-out');
const paths = {
  archive: join(out, 'model.tar.gz'),
  images: join(out, 'batch', 'input'),
  outputs: join(out, 'batch', 'output'),
  log: join(out, 'runtime.log'),
  report: options.out ? join(out, 'demo-report.html') : join(root, 'demo-report.html'),
};

/** Where a path lies, as the reader's shell sees it. */
const here = (path: string) => relative(process.cwd(), path) || '.';

async function main(signal: AbortSignal): Promise<void> {
  const step = stepper(signal);
  await mkdir(out, { recursive: true });
  await rm(paths.outputs, { recursive: true, force: true });

  await step(
    'TensorFlow library',
    () => fetchLibrary(signal),
    (library) => `${library.source}: ${library.directory}`,
  );
  const archive = await step(
    'Package examples/digits',
    () => packageDigits(signal),
    ({ bytes }) => `${here(paths.archive)}, ${bytes} bytes`,
  );
  const serving = await step(
    'Serve the archive, laid out as SageMaker does',
    () => serve(paths.archive, paths.log, signal),
    ({ url, modelServer }) => `${url}, ${modelServer}`,
  );
  try {
    await predict(serving, archive, { step, signal });
  } finally {
    await serving.stop();
  }
}

async function predict(
  serving: Serving,
  archive: Awaited<ReturnType<typeof packageDigits>>,
  { step, signal }: { step: Step; signal: AbortSignal },
): Promise<void> {
  const latency = await step(
    'One image after another, over REST and over gRPC',
    () => measureLatency(serving.url, join(digits, 'samples'), signal),
    (rows) =>
      rows.map((row) => `${row.transport} ${row.correct}/${row.summary.count} correct`).join(', '),
  );
  await step(
    `Write ${BATCH_SIZE} test digits as images`,
    () => writeTestDigits(paths.images, { count: BATCH_SIZE, format: 'png' }),
    () => here(paths.images),
  );
  const batch = await step(
    `Batch transform over ${BATCH_SIZE} images`,
    () => runBatch(serving.url, { input: paths.images, output: paths.outputs }, signal),
    ({ job }) =>
      `${job.done} done, ${job.failed} failed, ${(job.done / job.seconds).toFixed(0)} images/s`,
  );
  const answers = await step(
    'Check the outputs against the labels',
    async () => readAnswers(paths.outputs, await readdir(paths.images)),
    (all) =>
      `${(100 * accuracy(all)).toFixed(2)}% of the digits that the model never saw are right`,
  );
  await writeReport(paths.report, {
    archive,
    modelServer: serving.modelServer,
    startMilliseconds: serving.startMilliseconds,
    latency,
    batch,
    answers,
    images: paths.images,
    ...(await meanSizes(paths.images, paths.outputs, answers)),
    steps: timeline,
  });
  printSummary(latency, batch.job.failed);
}

async function fetchLibrary(signal: AbortSignal) {
  const bar = progressBar();
  return ensureLibrary({ onProgress: bar.onProgress, signal }).finally(bar.stop);
}

const packaged = z.object({ bytes: z.number(), fingerprint: z.string() });

/** Verified, too: one of the samples goes through TensorFlow, runtime and handler. */
async function packageDigits(signal: AbortSignal) {
  const sample = join(digits, 'samples', (await readdir(join(digits, 'samples'))).sort()[0] ?? '');
  const args = ['package', '--model', `digits=${join(digits, 'model')}`];
  args.push('--handler', join(digits, 'inference.ts'), '--sample', sample, '--out', paths.archive);
  return runCommand(args, packaged, signal);
}

function printSummary(latency: Awaited<ReturnType<typeof measureLatency>>, failed: number): void {
  const rows = latency.map(({ transport, summary }) => [
    transport,
    ...[summary.mean, summary.p50, summary.p90, summary.p95].map(ms),
  ]);
  process.stdout.write(`
Latency of one image, milliseconds
${table(['transport', 'mean', 'P50', 'P90', 'P95'], rows)}

  report   ${here(paths.report)}
  archive  ${here(paths.archive)}
  outputs  ${here(paths.outputs)}
  log      ${here(paths.log)}

Done in ${elapsedSeconds().toFixed(0)} s.
`);
  if (failed > 0) throw new Error(`${failed} images have no output; ${here(paths.log)} says why`);
}

main(interruptSignal()).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nThe demo failed: ${explain(error)}\n`);
    process.exit(1);
  },
);
