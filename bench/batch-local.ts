/** The local batch job over many pictures: its speed, its memory, and whether it loses one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cpuSeconds, peakBytes, residentBytes } from '../tools/process-stats.ts';
import type { Bench, BenchContext, Findings, ResultTable, Row, Target } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startRuntimeOn } from './lib/front-ends.ts';
import { writeManyPictures } from './lib/many-pictures.ts';
import { median } from './lib/median.ts';
import { ROOT } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const NAME = 'batch-local';
/** Where `--pictures` does not say. */
const COUNT = { full: 10_000, quick: 1_000 };
const UNREADABLE = 20;
/** Milliseconds between two looks at the job's memory. */
const LOOK_EVERY = 100;
const MODEL = join(ROOT, 'examples', 'tiles', 'model');
const COMMAND = join(ROOT, 'cli', 'dist', 'bin.js');

/** What `sagemaker-tfs batch local --json` prints, as far as it is read here. */
interface JobReport {
  readonly inputs: number;
  readonly missing: number;
  readonly done: number;
  readonly seconds: number;
  readonly redriveManifest: string;
}

interface Job {
  readonly report: JobReport;
  readonly exitCode: number;
  readonly peak: number;
  readonly cpu: number;
  /** Resident bytes in the course of the job. */
  readonly samples: readonly number[];
}

export const batchLocal: Bench = {
  name: NAME,
  question:
    'How fast is a local batch job, how much memory does it take, and does it lose a picture?',
  async run(context): Promise<Findings> {
    const count = context.pictures ?? (context.quick ? COUNT.quick : COUNT.full);
    const { row, growth, lost } = await measureJob(context, count);
    return {
      tables: [tableWith(row)],
      targets: [
        {
          what: `Batch of ${count.toLocaleString('en-US')} pictures: readable ones without an output`,
          bound: 'at most',
          target: 0,
          measured: lost,
          unit: 'pictures',
        },
        // Of a short job, both quarters are its start.
        ...(count < COUNT.full ? [] : [growthTarget(count, growth)]),
      ],
      notes: [
        `\`sagemaker-tfs batch local\` as a process of its own sends every JPEG (64x64, no two alike) as one request to the serving runtime with the model of \`examples/tiles\`, which decodes and resizes in its graph. ${UNREADABLE} of the pictures cannot be read: the job must end all the same, list exactly these, and exit with 1. Memory is resident, from \`/proc\`; that of the runtime is without the model server's. A row is kept until as many pictures are measured again; \`npm run bench -- --only ${NAME} --pictures 100000\` measures the large one.`,
      ],
    };
  },
};

function growthTarget(count: number, growth: number): Target {
  return {
    what: `Batch of ${count.toLocaleString('en-US')} pictures: memory in the last quarter against that in the second`,
    bound: 'at most',
    target: 1.2,
    measured: growth,
    unit: 'x',
  };
}

async function measureJob(context: BenchContext, count: number) {
  const directory = temporaryDirectory();
  const [input, output, served] = ['in', 'out', 'model'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  try {
    context.log(`write ${count} pictures`);
    const damaged = await writeManyPictures(input, count, UNREADABLE);
    cpSync(MODEL, served, { recursive: true });
    const runtime = await startRuntimeOn(served, { SAGEMAKER_BATCH: 'true' });
    try {
      return await judge(context, count, damaged, runtime, await runJob(input, output, runtime));
    } finally {
      await runtime.stop();
    }
  } finally {
    removeDirectory(directory);
  }
}

function judge(
  { log }: BenchContext,
  count: number,
  damaged: readonly string[],
  runtime: FrontEnd,
  { report, exitCode, peak, cpu, samples }: Job,
) {
  const { inputs, done, missing, seconds, redriveManifest } = report;
  const [, ...listed] = JSON.parse(readFileSync(redriveManifest, 'utf8')) as [object, ...string[]];
  const exact = JSON.stringify(listed.sort()) === JSON.stringify(damaged);
  if (exitCode !== 1 || inputs !== count || !exact) {
    throw new Error(
      `the job over ${inputs} of ${count} pictures exits with ${exitCode} and lists ${missing}, not the ${UNREADABLE} unreadable ones`,
    );
  }
  const quarter = Math.floor(samples.length / 4);
  const of = (part: number) => median(samples.slice(part * quarter, (part + 1) * quarter));
  const row: Row = {
    pictures: count,
    rate: count / seconds,
    seconds,
    cpu: (cpu * 1_000) / count,
    peak: peak / 1e6,
    runtime: Math.max(...runtime.pids().map(peakBytes)) / 1e6,
    done,
    listed: missing,
    date: new Date().toISOString().slice(0, 10),
  };
  log(`${count} pictures: ${(count / seconds).toFixed(0)} a second, ${(peak / 1e6).toFixed(0)} MB`);
  return { row, growth: of(3) / of(1), lost: count - done - damaged.length };
}

/** Runs the job to its end and watches it. */
async function runJob(input: string, output: string, { url }: FrontEnd): Promise<Job> {
  const args = ['batch', 'local', input, '--out', output, '--url', url, '--json'];
  const child = spawn(process.execPath, [COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = child.pid as number;
  const samples: number[] = [];
  let [peak, cpu] = [0, 0];
  const look = setInterval(() => {
    if (!existsSync(`/proc/${pid}/status`)) return;
    samples.push(residentBytes(pid));
    peak = Math.max(peak, peakBytes(pid));
    cpu = Math.max(cpu, cpuSeconds([pid]));
  }, LOOK_EVERY);
  try {
    const [printed, [exitCode]] = await Promise.all([
      text(child.stdout),
      once(child, 'exit') as Promise<[number]>,
    ]);
    return { report: JSON.parse(printed) as JobReport, exitCode, peak, cpu, samples };
  } finally {
    clearInterval(look);
    child.kill();
  }
}

/** The rows of other numbers of pictures stay, each with its date. */
function tableWith(row: Row): ResultTable {
  const file = join(ROOT, 'bench', 'results', `${NAME}.json`);
  const before = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { tables: ResultTable[] })
    : { tables: [] };
  const others = before.tables[0]?.rows.filter(({ pictures }) => pictures !== row.pictures) ?? [];
  return {
    title: `A batch job over generated JPEGs, ${UNREADABLE} of them unreadable`,
    columns: columns({
      pictures: 'Pictures',
      rate: 'Pictures/s',
      seconds: 'Seconds',
      cpu: 'CPU of the job, ms a picture',
      peak: 'Peak memory of the job, MB',
      runtime: 'Peak memory of the runtime, MB',
      done: 'Outputs',
      listed: 'Listed with a reason',
      date: 'Measured',
    }),
    rows: [...others, row].sort((a, b) => Number(a.pictures) - Number(b.pictures)),
  };
}
