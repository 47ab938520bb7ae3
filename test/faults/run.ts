/**
 * `npm run faults`: each fault on the built runtime under load, over gRPC, REST and in-process, and what became of the
 * requests. Options: `--short` (as in CI), `--minutes N` (repeats the table for so long; default 20), `--clients N`
 * (default 32), `--overload-minutes N` of each overload (default 10; 2 s in the short form), `--only TEXT` (faults
 * whose stage, name or backend has it), `--backend NAME`, `--write` (docs/reliability.md; of a part, its rows alone).
 * Exit status 1 if an answer was wrong or lost, `/ping` was late, or, with CI=true, a row could not be tried.
 */
import { parseArgs } from 'node:util';
import type { Fault, Stage } from './ground.ts';
import { writeFaults } from './page.ts';
import type { Backend } from './served.ts';
import { type Effort, type Row, runStage } from './stage.ts';
import { STAGES } from './stages.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '20' },
    clients: { type: 'string', default: '32' },
    'overload-minutes': { type: 'string' },
    only: { type: 'string' },
    backend: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

/** Of a full run: repetitions, or seconds, of each fault. */
const TIMES = 5;
/** How long an overload lasts. */
const OVERLOAD_MINUTES = 10;
const SHORT_OVERLOAD_MS = 2_000;
/** Of a row in which `/ping` was late. */
const MORE_TRIES = 3;

async function run(): Promise<void> {
  const clients = Number(values.clients);
  const end = performance.now() + Number(values.minutes) * 60_000;
  const rows: Row[] = [];
  do {
    rows.push(...(await runTable(clients)));
  } while (!values.short && performance.now() < end);
  if (rows.length === 0) throw new Error('no fault is called so, or not with this backend');
  const isPart = values.only !== undefined || values.backend !== undefined;
  if (values.write) writeFaults(rows, process.argv.slice(2), isPart);
  const bad = rows.filter(isBad);
  const late = rows.filter(({ isPingLate }) => isPingLate);
  for (const { fault, backend } of late) console.error(`${fault}, ${backend}: /ping was late`);
  const skipped = rows.filter((row) => row.skipped);
  if (process.env.CI === 'true' && skipped.length > 0) process.exitCode = 1;
  if (bad.length + late.length > 0) process.exitCode = 1;
}

async function runTable(clients: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const stage of STAGES) {
    for (const backend of stage.backends) {
      if (values.backend !== undefined && values.backend !== backend) continue;
      if (values.short && stage.short && !stage.short.includes(backend)) continue;
      const faults = stage.faults.filter(
        ({ name, isLong }) =>
          `${stage.name} ${name} ${backend}`.includes(values.only ?? '') &&
          !(values.short && isLong),
      );
      if (faults.length === 0) continue;
      const times = values.short ? 1 : TIMES;
      const effort = { clients, times, overloadMs: overloadMs(), onRow };
      const tried = await runStage({ ...stage, faults }, backend, effort);
      rows.push(...(await lateOnesAgain({ ...stage, faults }, backend, effort, tried)));
    }
  }
  return rows;
}

function isBad({ counts }: Row): boolean {
  return counts !== undefined && counts.wrong + counts.lost > 0;
}

/** On a machine that others use too, one late `/ping` proves nothing. */
async function lateOnesAgain(
  stage: Stage,
  backend: Backend,
  effort: Effort,
  rows: readonly Row[],
  triesLeft = MORE_TRIES,
): Promise<Row[]> {
  const isLate = ({ name }: Fault) => rows.some((row) => row.fault === name && row.isPingLate);
  const faults = stage.faults.filter(isLate);
  if (faults.length === 0 || rows.some(isBad) || triesLeft === 0) return [...rows];
  console.error('/ping was late: once more');
  const again = await runStage({ ...stage, faults }, backend, effort);
  const now = rows.map((row) => again.find(({ fault }) => fault === row.fault) ?? row);
  return lateOnesAgain(stage, backend, effort, now, triesLeft - 1);
}

function overloadMs(): number {
  const minutes = values['overload-minutes'];
  if (minutes === undefined && values.short) return SHORT_OVERLOAD_MS;
  return 60_000 * Number(minutes ?? OVERLOAD_MINUTES);
}

function onRow(row: Row): void {
  const {
    fault,
    backend,
    skipped,
    inapplicable,
    counts,
    pingMs = 0,
    memoryBytes = 0,
    share = 1,
  } = row;
  const told = inapplicable
    ? `does not apply: ${inapplicable}`
    : skipped
      ? `skipped: ${skipped}`
      : `${counts?.tries} tries, ${counts?.right} right, refused ${JSON.stringify(counts?.codes)}, ${counts?.wrong} wrong, ${counts?.lost} lost, right again after ${Math.round(counts?.recoveryMs ?? 0)} ms, slowest /ping ${Math.round(pingMs)} ms with ${share.toFixed(2)} of a processor, ${Math.round(memoryBytes / 2 ** 20)} MiB`;
  const lines = [`${Math.round(performance.now() / 1000)} s ${backend}, ${fault}: ${told}`];
  console.error([...lines, ...(counts?.examples ?? [])].join('\n  '));
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
