/**
 * `npm run axe:worker -- --tiles 1000000 --kills 20`: `batch worker` over generated tiles on an S3 of this machine, killed
 * with SIGKILL again and again. Every tile must have the answer that a plain job gives, once. `--write`: docs/batch.md.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { uniform } from 'sagemaker-tfs/development/random';
import { type GeneratedS3, startGeneratedS3 } from '../../tools/generated-s3.ts';
import { machine, today } from '../../tools/machine.ts';
import { withMarked } from '../../tools/marked.ts';

const { values } = parseArgs({
  options: {
    tiles: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
});

const PROGRAM = resolve('cli/bin/sagemaker-tfs.js');
const MODEL = resolve('examples/digits');
const LOOK_EVERY = 250;

/** What was found. */
interface Found {
  readonly tiles: number;
  readonly kills: number;
  /** Seconds of all runs together, and tiles a second in them. */
  readonly seconds: number;
  readonly perSecond: number;
  /** Tiles without an answer, with a wrong one, or with more than one. */
  readonly missing: number;
  readonly wrong: number;
  readonly twice: number;
  readonly parts: number;
  /** Most memory of a worker's process in each tenth of the run, MiB. */
  readonly memory: readonly number[];
  readonly calls: Readonly<Record<string, number>>;
}

async function run(): Promise<void> {
  const [tiles, kills] = [Number(values.tiles), Number(values.kills)];
  const work = await mkdtemp(join(tmpdir(), 'axe-worker-'));
  const samples = await samplesOf(join(MODEL, 'samples'));
  const s3 = await startGeneratedS3({
    tiles: {
      count: tiles,
      keyOf: (at) => `in/${String(at).padStart(9, '0')}.jpg`,
      bodyOf: (at) => samples[at % samples.length] as Uint8Array,
    },
  });
  try {
    const answers = await plainAnswers(work, s3);
    const { seconds, memory, killed } = await killAndGoOn(s3, tiles, kills);
    const found = {
      tiles,
      kills: killed,
      seconds,
      perSecond: tiles / seconds,
      ...check(s3, tiles, answers),
      memory,
      calls: s3.calls,
    };
    process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    if (values.write) await writeTable(found);
    if (found.missing + found.wrong + found.twice > 0) process.exitCode = 1;
  } finally {
    await s3.close();
    await rm(work, { recursive: true, force: true });
  }
}

async function samplesOf(directory: string): Promise<Uint8Array[]> {
  const names = (await readdir(directory)).sort();
  return Promise.all(names.map((name) => readFile(join(directory, name))));
}

/** What a plain job answers to each sample, as `batch fetch` writes it. */
async function plainAnswers(work: string, s3: GeneratedS3): Promise<string[]> {
  const [out, file] = [join(work, 'out'), join(work, 'answers.ndjson')];
  await command(s3, 'batch', 'local', join(MODEL, 'samples'), '--out', out, ...REQUEST);
  await command(s3, 'batch', 'fetch', out, '--out', file);
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  const names = (await readdir(join(MODEL, 'samples'))).sort();
  return names.map((name) => outputOf(lines.find((line) => line.includes(`"${name}"`)) ?? ''));
}

const REQUEST = [
  ...['--model', join(MODEL, 'model'), '--handler', join(MODEL, 'inference.ts')],
  ...['--content-type', 'application/x-image'],
];
const WORKER = [
  ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', 's3://out/', ...REQUEST],
];

const outputOf = (line: string) => line.slice(line.indexOf('"output":'));

function command(s3: GeneratedS3, ...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...s3.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  return Object.assign(once(child, 'close') as Promise<[number | null]>, { child });
}

async function killAndGoOn(s3: GeneratedS3, tiles: number, kills: number) {
  const random = uniform(1);
  const moments = Array.from({ length: kills }, () => random() * tiles).sort((a, b) => a - b);
  const memory: number[] = new Array(10).fill(0);
  const started = performance.now();
  const done = () => linesOf(s3);
  let killed = 0;
  for (const moment of [...moments, undefined]) {
    const running = command(s3, ...WORKER);
    let status: number | null | undefined;
    running.then(([ended]) => {
      status = ended;
    });
    while (status === undefined && (moment === undefined || done() < moment)) {
      await sleep(LOOK_EVERY);
      const tenth = Math.min(9, Math.floor((10 * done()) / tiles));
      memory[tenth] = Math.max(memory[tenth] ?? 0, memoryOf(running.child.pid as number));
    }
    const isKilled = status === undefined;
    if (isKilled) {
      process.kill(-(running.child.pid as number), 'SIGKILL');
      killed++;
      process.stderr.write(`killed at ${done()} tiles\n`);
    }
    const [ended] = await running;
    if (!isKilled && ended !== 0) throw new Error(`a run ended with ${ended} by itself`);
  }
  return { seconds: (performance.now() - started) / 1_000, memory, killed };
}

/** Lines of the parts so far; each is counted once. */
const counted = new Map<string, number>();
function linesOf(s3: GeneratedS3): number {
  let sum = 0;
  for (const [key, { body }] of s3.stored.get('out') ?? []) {
    if (!key.startsWith('parts/')) continue;
    let lines = counted.get(key);
    if (lines === undefined) {
      lines = Buffer.from(body).toString('latin1').split('\n').length - 1;
      counted.set(key, lines);
    }
    sum += lines;
  }
  return sum;
}

/** MiB of the largest process of a group. */
function memoryOf(group: number): number {
  const table = execFileSync('ps', ['-eo', 'pgid=,rss='], { encoding: 'utf8' });
  const rows = table.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  const sizes = rows.filter(([pgid]) => pgid === group).map(([, rss = 0]) => rss / 1024);
  return Math.round(Math.max(0, ...sizes));
}

function check(s3: GeneratedS3, tiles: number, answers: readonly string[]) {
  const times = new Uint8Array(tiles);
  let [wrong, parts] = [0, 0];
  for (const [key, { body }] of s3.stored.get('out') ?? []) {
    if (!key.startsWith('parts/')) continue;
    parts++;
    for (const line of Buffer.from(body).toString('utf8').split('\n')) {
      if (line === '') continue;
      const at = Number(/^\{"key":"(\d+)\.jpg"/.exec(line)?.[1]);
      if (times[at] !== undefined) times[at]++;
      if (outputOf(line) !== answers[at % answers.length]) wrong++;
    }
  }
  const missing = times.filter((count) => count === 0).length;
  const twice = times.filter((count) => count > 1).length;
  return { missing, wrong, twice, parts };
}

const PAGE = resolve('docs/batch.md');

async function writeTable(found: Found): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  await writeFile(
    PAGE,
    withMarked(page, 'worker-axe', () => text(found)),
  );
}

function text({ tiles, kills, memory, calls, ...found }: Found): string {
  const count = (value = 0) => Math.round(value).toLocaleString('en');
  const rows = [
    ['pictures, on an S3 of the same machine', count(tiles)],
    ['killed with SIGKILL, and started again', `${kills} times`],
    ['without an answer', count(found.missing)],
    ["with another answer than a plain job's", count(found.wrong)],
    ['with two answers', count(found.twice)],
    ['parts', count(found.parts)],
    ['GET, PUT, LIST', [calls.GET, calls.PUT, calls.LIST].map(count).join(', ')],
    ['pictures a second, starts and lost work included', count(found.perSecond)],
    ["most memory of the worker's process in each tenth of the run, MiB", memory.join(', ')],
  ];
  const table = rows.map(([what, value]) => `| ${what} | ${value} |`);
  return [
    `Run on ${today()} with \`npm run axe:worker -- --tiles ${tiles} --kills ${values.kills}\`, with the digits example, beside other`,
    `programs on ${machine()}.`,
    ...['', '| what | |', '| --- | --- |', ...table],
  ].join('\n');
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
