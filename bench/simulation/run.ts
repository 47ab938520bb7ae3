/** `npm run simulate`: simulates the 120 million tiles, prints the table and writes it into `docs/batch.md`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { documentText } from './comparison.ts';
import { DOCUMENT, withResult } from './document.ts';
import { measure } from './measure.ts';
import { type Measured, readMeasured, writeMeasured } from './measured.ts';
import { type ModelTimes, readModelTimes, timesOfRate } from './model-times.ts';
import { charts, simulateAll } from './report.ts';

const USAGE = `usage: npm run simulate -- [--measure] [--model-times FILE | --seconds-per-image S | --assume-model] [--where TEXT]

  --measure            measure the runtime on this machine anew
  --model-times        what the model takes: the output of sagemaker-tfs tune --json or bench --json, or
                       {"batchMs", "imageMs", "where", "date"}; kept in bench/simulation/measured.json
  --seconds-per-image  the same as one number
  --where              where that was measured, such as ml.p3.2xlarge
  --assume-model       the model of bench/simulation/assumptions.ts again
`;

const options = {
  measure: { type: 'boolean', default: false },
  'model-times': { type: 'string' },
  'seconds-per-image': { type: 'string' },
  'assume-model': { type: 'boolean', default: false },
  where: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const before = readMeasured();
  const { model: kept, ...runtime } = values.measure ? { ...before, ...(await measure()) } : before;
  const model = values['assume-model'] ? undefined : ((await givenTimes(values)) ?? kept);
  const measured: Measured = { ...runtime, ...(model && { model }) };
  await writeMeasured(measured);
  const rows = simulateAll(measured);
  const text = documentText(measured, rows);
  process.stdout.write(`${text}\n`);
  const images = join(dirname(DOCUMENT), 'images');
  await mkdir(images, { recursive: true });
  for (const [name, svg] of Object.entries(charts(measured, rows))) {
    await writeFile(join(images, name), `${svg}\n`);
  }
  await writeFile(DOCUMENT, withResult(await readFile(DOCUMENT, 'utf8'), text));
}

/** Undefined if none are given. */
async function givenTimes(values: {
  'model-times'?: string | undefined;
  'seconds-per-image'?: string | undefined;
  where?: string | undefined;
}): Promise<ModelTimes | undefined> {
  const { 'model-times': file, 'seconds-per-image': seconds, where } = values;
  if (file !== undefined) return readModelTimes(file, where);
  if (seconds === undefined) return undefined;
  if (!(Number(seconds) > 0)) throw new Error(`--seconds-per-image ${seconds} is no time`);
  if (where === undefined) throw new Error('--seconds-per-image needs --where: what was measured?');
  return timesOfRate(Number(seconds), where, new Date().toISOString().slice(0, 10));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
