/** `npm run axe`: 2,000 pictures through a real model, killed 50 times. `-- --write`: docs/reliability.md. */
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareModelRoot, startRuntime } from 'sagemaker-tfs/development/serving';
import { machine, today } from '../../tools/machine.ts';
import { writeSection } from '../faults/page.ts';
import { type AxeReport, axe } from './axe.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });

const PICTURES = 2_000;
const KILLS = 50;
const MODEL = resolve('examples/digits');

async function run(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'axe-pictures-'));
  const root = await prepareModelRoot(join(MODEL, 'model'), join(MODEL, 'inference.ts'));
  const runtime = await startRuntime({
    modelDirectory: root.directory,
    environment: { SAGEMAKER_BATCH: 'true', SAGEMAKER_TFS_LOG_LEVEL: 'warn' },
    log: 'inherit',
  });
  try {
    const samples = (await readdir(join(MODEL, 'samples'))).filter((name) => /[.]jpg$/.test(name));
    for (let at = 0; at < PICTURES; at++) {
      const sample = samples[at % samples.length] as string;
      await copyFile(join(MODEL, 'samples', sample), join(directory, `${at}.jpg`));
    }
    const report = await axe({
      url: runtime.url,
      directory,
      contentType: 'application/x-image',
      kills: KILLS,
      seed: 1,
      onKill: (kill, outputs) => process.stderr.write(`kill ${kill}: ${outputs} outputs\n`),
    });
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    if (values.write) writeSection('Batch under the axe', told(report));
    if (report.different.length > 0 || report.left.length > 0) process.exitCode = 1;
  } finally {
    await runtime.stop();
    await root.cleanUp();
    await rm(directory, { recursive: true, force: true });
  }
}

function told({ inputs, killed, different, left }: AxeReport): string {
  return `Run on ${today()} with \`npm run axe\`, on ${machine()}. A local batch job of ${inputs.toLocaleString('en')} pictures is
killed with SIGKILL at ${killed} random moments and started again each time. Compared with a job that nobody disturbed,
${different.length} outputs differ, byte for byte, are missing or are too many; ${left.length} files were left in the temporary directory or
unfinished among the outputs.`;
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
