/**
 * `npm run bench:large-batch`: planning, verifying and fetching of a large job, by the function and the command that are
 * shipped, against an S3 of this machine with generated objects. Counts calls; the times are those of this machine. `--write`:
 * docs/batch.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type GeneratedS3, startGeneratedS3 } from '../tools/generated-s3.ts';
import { machine, today } from '../tools/machine.ts';
import { withMarked } from '../tools/marked.ts';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '2000000' },
    outputs: { type: 'string', default: '100000' },
    write: { type: 'boolean', default: false },
  },
});
const COMMAND = resolve('cli/bin/sagemaker-tfs.js');
const FUNCTION = resolve('lib/dist/functions/shards.js');
const PAGE = resolve('docs/batch.md');
/** Bytes of an answer, as in the simulation. */
const ANSWER = Buffer.from(`{"predictions":[[${'0.125,'.repeat(79)}0.125]]}`);
/** Requests that S3 answers a second for a prefix at least. https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html */
const S3_READS = 5_500;
const JOB = 120_000_000;

/** What one step took. */
interface Step {
  readonly what: string;
  readonly objects: number;
  readonly seconds: number;
  /** Seconds of a processor, of the process that was measured. */
  readonly processor: number;
  readonly calls: Readonly<Record<string, number>>;
}

const keyOf = (at: number) => `in/${String(at).padStart(9, '0')}.jpg`;

/** Writes the processor's seconds at the end of a process, to its fourth stream. */
const TELL_PROCESSOR = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs';
   process.on('exit', () => {
     const { user, system } = process.cpuUsage();
     writeSync(3, String((user + system) / 1e6));
   });`,
)}`;

async function measure(
  s3: GeneratedS3,
  what: string,
  objects: number,
  args: readonly string[],
): Promise<Step> {
  for (const method of Object.keys(s3.calls)) s3.calls[method] = 0;
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', TELL_PROCESSOR, ...args], {
    env: { ...process.env, ...s3.environment },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const [[status], processor] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdio[3] as Readable),
  ]);
  if (status !== 0) throw new Error(`${what} ended with ${status}`);
  const seconds = (performance.now() - started) / 1_000;
  process.stderr.write(`  ${what}: ${seconds.toFixed(1)} s\n`);
  return { what, objects, seconds, processor: Number(processor), calls: { ...s3.calls } };
}

/** The function as the state machine calls it, until the plan is made. */
const PLAN = `
  const { handler } = require(process.argv[1]);
  const settings = JSON.parse(process.argv[2]);
  const since = { origin: 0, run: 0 };
  const plan = async (position) => {
    const result = await handler(
      { action: 'plan', settings, since, position },
      { getRemainingTimeInMillis: () => 900_000 },
    );
    if (!result.planned) return plan(result.position);
  };
  plan();
`;

async function planning(keys: number): Promise<Step> {
  const bodyOf = () => Buffer.from('x');
  const s3 = await startGeneratedS3({ tiles: { count: keys, keyOf, bodyOf } });
  const settings = {
    ...{ inputUri: 's3://tiles/in/', dataType: 'S3Prefix', inventoryUri: '', keySuffix: '' },
    ...{ outputUri: 's3://out/answers/', objectsPerShard: 100_000, runId: 'bench' },
    minutesPerShard: 0,
  };
  try {
    const args = ['-e', PLAN, FUNCTION, JSON.stringify(settings)];
    return await measure(s3, 'planning of shards of 100,000', keys, args);
  } finally {
    await s3.close();
  }
}

async function outputs(count: number): Promise<Step[]> {
  const s3 = await startGeneratedS3({
    tiles: { count, keyOf, bodyOf: () => Buffer.from('x') },
    out: { count, keyOf: (at) => `${keyOf(at)}.out`, bodyOf: () => ANSWER },
  });
  const work = await mkdtemp(join(tmpdir(), 'large-batch-'));
  const batch = (...args: string[]) => [COMMAND, 'batch', ...args, '--quiet'];
  const places = ['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/in/'];
  const from = ['fetch', 's3://out/in/', '--out'];
  try {
    return [
      await measure(
        s3,
        '`verify`',
        count,
        batch('verify', ...places, '--sample', '0', '--redrive', join(work, 'redrive')),
      ),
      await measure(s3, '`fetch`, one file', count, batch(...from, join(work, 'all.ndjson'))),
      await measure(
        s3,
        '`fetch --part-keys 10000`',
        count,
        batch(...from, join(work, 'parts'), '--part-keys', '10000'),
      ),
      await measure(
        s3,
        'the same as Parquet',
        count,
        batch(...from, join(work, 'table'), '--part-keys', '10000', '--format', 'parquet'),
      ),
    ];
  } finally {
    await s3.close();
    await rm(work, { recursive: true, force: true });
  }
}

function tableOf(steps: readonly Step[]): string {
  const count = (value = 0) => Math.round(value).toLocaleString('en');
  const rows = steps.map(({ what, objects, seconds, processor, calls }) => {
    const { GET, PUT, LIST } = calls;
    const times = [seconds.toFixed(1), processor.toFixed(1), count(objects / processor)];
    const cells = [what, count(objects), ...times];
    return `| ${[...cells, count(LIST), count(GET), count(PUT)].join(' | ')} |`;
  });
  const inParts = steps.find(({ what }) => what.includes('--part-keys'));
  const perSecond = (inParts?.objects ?? 0) / (inParts?.processor ?? 1);
  const hours = (objectsPerSecond: number) => (JOB / objectsPerSecond / 3_600).toFixed(1);
  return [
    `Run on ${today()} with \`npm run bench:large-batch -- --keys ${values.keys} --outputs ${values.outputs}\`, on ${machine()}, beside`,
    'many other programs, which the seconds show, and those of a processor do not. Answers have about 500 bytes.',
    '',
    '| what | objects | seconds | seconds of a processor | objects in each | LIST | GET | PUT |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    `A fetch reads each output once. Of ${count(JOB)} that is ${hours(S3_READS)} hours at the ${count(S3_READS)} GET a second that S3 allows a prefix at`,
    `least, and ${hours(perSecond)} hours of a processor like these: \`--share\` divides them among ${Math.ceil(S3_READS / perSecond)} processes. A worker's answers lie in`,
    'parts, so there the fetch reads thousands of answers with each GET.',
  ].join('\n');
}

async function run(): Promise<void> {
  const steps = [await planning(Number(values.keys)), ...(await outputs(Number(values.outputs)))];
  const told = tableOf(steps);
  process.stdout.write(`${told}\n`);
  if (!values.write) return;
  const page = await readFile(PAGE, 'utf8');
  await writeFile(
    PAGE,
    withMarked(page, 'large-batch', () => told),
  );
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
