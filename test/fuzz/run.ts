/**
 * `npm run fuzz`: every parser of outside bytes, each in processes of its own, which a crash may end.
 * Options: `--inputs N` a parser (default 20,000), `--seed N` (default 1), `--only NAME,NAME`, `--jobs N` processes at
 * a time (default 1), `--write` (docs/fuzzing.md; what an earlier run with the same seed wrote counts, and only what
 * lacks of N is tried), `--end-to-end` (whole runtimes instead; of one backend with `--only grpc`), `--large` (with
 * it, bodies of up to 25 MB). The same seed makes the same inputs.
 * Exit status 1 where something was found.
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BACKENDS, endToEnd } from './end-to-end.ts';
import { exercise, inputOf, type Outcome } from './exercise.ts';
import { writePage } from './page.ts';
import { inputsOf, keepResults, keptResults, withOutcome } from './results.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets/index.ts';
import { removeScratch } from './targets/scratch.ts';

const CHILD = 'FUZZ_PROGRESS';
/** Inputs of one process: enough to see memory grow. */
const PART = 100_000;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    'end-to-end': { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const inputs = Number(values.inputs);
const wanted = values.only?.split(',');
const targets = TARGETS.filter(({ name }) => wanted === undefined || wanted.includes(name));
if (targets.length === 0 && !values['end-to-end'])
  throw new Error(
    `no parser ${values.only}; there are ${TARGETS.map(({ name }) => name).join(', ')}`,
  );

const progress = process.env[CHILD];
if (values['end-to-end']) void wholeRuntimes();
else void (progress === undefined ? supervise() : work(progress, Number(values.from)));

/** A part of one parser's inputs, in this process, which notes the input that it is at. */
async function work(file: string, from: number): Promise<void> {
  const note = Buffer.alloc(8);
  const fd = openSync(file, 'r+');
  const onInput = (index: number) => {
    note.writeUInt32LE(index);
    writeSync(fd, note, 0, note.length, 0);
  };
  const outcome = await exercise(targets[0] as Target, { seed, from, inputs, onInput });
  closeSync(fd);
  process.stdout.write(JSON.stringify(outcome), () => process.exit());
}

/** Each backend's runtime, one after the other. */
async function wholeRuntimes(): Promise<void> {
  for (const backend of BACKENDS.filter((one) => wanted === undefined || wanted.includes(one))) {
    const report = await endToEnd({ backend, inputs, seed, large: values.large });
    console.error(JSON.stringify(report, null, 2));
    if (report.findings.length > 0) process.exitCode = 1;
    if (!values.write) continue;
    const kept = keptResults(seed);
    const results = { ...kept, endToEnd: { ...kept.endToEnd, [report.backend]: report } };
    keepResults(results);
    writePage(results);
  }
  removeScratch();
}

interface Part {
  readonly target: Target;
  readonly from: number;
  readonly inputs: number;
}

async function supervise(): Promise<void> {
  let results = values.write ? keptResults(seed) : { seed, outcomes: {} };
  const parts = targets
    .flatMap((target) => partsOf(target, inputsOf(results.outcomes[target.name])))
    .toSorted((a, b) => a.from - b.from);
  const one = async (): Promise<void> => {
    for (let part = parts.shift(); part; part = parts.shift()) {
      const outcome = await inChild(part);
      results = withOutcome(results, outcome);
      tell(part, outcome);
      if (values.write) {
        keepResults(results);
        writePage(results);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, one));
  const found = Object.values(results.outcomes).some(({ findings }) => findings.length > 0);
  process.exitCode = found ? 1 : 0;
}

function partsOf(target: Target, done: number): Part[] {
  const parts: Part[] = [];
  for (let from = done; from < inputs; from += PART) {
    parts.push({ target, from, inputs: Math.min(PART, inputs - from) });
  }
  return parts;
}

function tell({ from }: Part, outcome: Outcome): void {
  const { target, ways, slowestMs, peakMiB, cpuSeconds, findings } = outcome;
  const share = ({ inputs: count, read }: { inputs: number; read: number }) =>
    `${Math.round((100 * read) / Math.max(1, count))}%`;
  console.error(
    `${target} from ${from}: ${inputsOf(outcome)} inputs, read ${share(ways.built)} of built and ${share(ways.changed)} of changed ones, slowest ${Math.round(slowestMs)} ms, ${peakMiB} MiB, ${Math.round(cpuSeconds)} s, ${findings.length} findings`,
  );
  for (const { index, what, input } of findings) {
    console.error(`  input ${index}: ${what}\n  ${input.slice(0, 400)}`);
  }
}

async function inChild(part: Part): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-run-'));
  const file = join(folder, 'at');
  writeFileSync(file, Buffer.alloc(8));
  const { name } = part.target;
  const args = ['--max-old-space-size=1024', '--import', 'tsx', import.meta.filename];
  const range = ['--from', String(part.from), '--inputs', String(part.inputs)];
  const child = spawn(
    process.execPath,
    [...args, '--only', name, '--seed', String(seed), ...range],
    { env: { ...process.env, [CHILD]: file, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err = (err + chunk).slice(-2_000);
  });
  try {
    const [status, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on('close', (code, sign) => resolve([code, sign])),
    );
    if (status === 0) return JSON.parse(out) as Outcome;
    return await crashed(part, readFileSync(file).readUInt32LE(0), `${signal ?? status}: ${err}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function crashed({ target, from }: Part, index: number, what: string): Promise<Outcome> {
  const { bytes } = await inputOf(target, await target.seeds(), seed, index);
  const input = bytes.toString('base64');
  return {
    target: target.name,
    ways: { built: { inputs: index + 1 - from, read: 0 }, changed: { inputs: 0, read: 0 } },
    slowestMs: 0,
    peakMiB: 0,
    cpuSeconds: 0,
    findings: [{ index, what: `the process ended: ${what}`, input }],
  };
}
