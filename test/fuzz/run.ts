/**
 * `npm run fuzz`: every parser of outside bytes, each in a process of its own, which a crash may end.
 * Options: `--inputs N` a parser (default 20,000), `--seed N` (default 1), `--only NAME`, `--write` (docs/fuzzing.md).
 * The same seed gives the same inputs. Exit status 1 where something was found.
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
import { exercise, inputOf, type Outcome } from './exercise.ts';
import { TARGETS } from './targets.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'fuzzing.md');
const CHILD = 'FUZZ_PROGRESS';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const inputs = Number(values.inputs);
const targets = TARGETS.filter(({ name }) => values.only === undefined || name === values.only);
if (targets.length === 0)
  throw new Error(
    `no parser ${values.only}; there are ${TARGETS.map(({ name }) => name).join(', ')}`,
  );

const progress = process.env[CHILD];
void (progress === undefined ? supervise() : work(progress));

/** One parser, in this process, which notes the input that it is at. */
async function work(file: string): Promise<void> {
  const note = Buffer.alloc(8);
  const fd = openSync(file, 'r+');
  const onInput = (index: number) => {
    note.writeUInt32LE(index);
    writeSync(fd, note, 0, note.length, 0);
  };
  const outcome = await exercise(targets[0] as (typeof targets)[number], { seed, inputs, onInput });
  closeSync(fd);
  process.stdout.write(JSON.stringify(outcome));
}

async function supervise(): Promise<void> {
  const outcomes: Outcome[] = [];
  for (const { name } of targets) {
    const outcome = await inChild(name);
    outcomes.push(outcome);
    console.error(line(outcome));
    for (const { index, what, input } of outcome.findings) {
      console.error(`  input ${index}: ${what}\n  ${input.slice(0, 400)}`);
    }
  }
  if (values.write) writeFileSync(PAGE, page(outcomes));
  process.exitCode = outcomes.some(({ findings }) => findings.length > 0) ? 1 : 0;
}

async function inChild(name: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-run-'));
  const file = join(folder, 'at');
  writeFileSync(file, Buffer.alloc(8));
  const args = ['--max-old-space-size=1024', '--import', 'tsx', import.meta.filename];
  const child = spawn(
    process.execPath,
    [...args, '--only', name, '--seed', String(seed), '--inputs', String(inputs)],
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
    return await crashed(name, readFileSync(file).readUInt32LE(0), `${signal ?? status}: ${err}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function crashed(name: string, index: number, what: string): Promise<Outcome> {
  const target = targets.find((one) => one.name === name) as (typeof targets)[number];
  const input = inputOf(target, await target.seeds(), seed, index).toString('base64');
  const findings = [{ index, what: `the process ended: ${what}`, input }];
  return { target: name, inputs: index, read: 0, refused: 0, slowestMs: 0, peakMiB: 0, findings };
}

function line({
  target,
  inputs: count,
  read,
  refused,
  slowestMs,
  peakMiB,
  findings,
}: Outcome): string {
  return `${target}: ${count} inputs, ${read} read, ${refused} refused, slowest ${Math.round(slowestMs)} ms, ${peakMiB} MiB, ${findings.length} findings`;
}

function page(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(
    ({ target, inputs: count, read, refused, slowestMs, peakMiB, findings }) =>
      `| ${target} | ${count.toLocaleString('en')} | ${read.toLocaleString('en')} | ${refused.toLocaleString('en')} | ${Math.ceil(slowestMs)} | ${peakMiB} | ${findings.length} |`,
  );
  return `# Fuzzing

Every parser of bytes that come from outside gets whole inputs with changes: values at the edges of their range, parts
taken out, repeated or moved, words of the format put in. It must read them or refuse them with an error of its own
that is the sender's fault. Found is: any other error (a 500), the end of the process, an input of more than 2 s of
processor time, a process of more than 1,500 MiB, and an honest input that is read otherwise than before.

\`\`\`sh
npm run fuzz                                  # 20,000 inputs a parser
npm run fuzz -- --inputs 1000000 --only json  # more for one
npm run fuzz -- --seed 7                      # others; the same seed gives the same
\`\`\`

The inputs in \`test/fuzz/corpus\` were findings once. They, and a few hundred others a parser, are tried by the tests.
\`test/fuzz/end-to-end.test.ts\` sends such bodies to a whole runtime, with honest requests in between.

Written by \`npm run fuzz -- --write\`, seed ${seed}.

| parser | inputs | read | refused | slowest, ms | memory, MiB | found |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}
`;
}
