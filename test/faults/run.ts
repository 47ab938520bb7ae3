/**
 * `npm run faults`: each fault on the built runtime under load, over gRPC, REST and in-process, and what became of the
 * requests. Options: `--short` (as in CI), `--minutes N` (repeats the table for so long; default 20), `--clients N`
 * (default 32), `--overload-minutes N` of each overload (default 10; 2 s in the short form), `--only TEXT` (faults
 * whose stage, name or backend has it), `--backend NAME`, `--write` (docs/reliability.md; of a part, its rows alone).
 * Exit status 1 where an answer was wrong or lost.
 */
import { parseArgs } from 'node:util';
import { writeFaults } from './page.ts';
import { type Row, runStage } from './stage.ts';
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
  const bad = rows.filter(({ counts }) => counts && counts.wrong + counts.lost > 0);
  for (const { fault, backend, counts } of bad) {
    console.error(`${fault}, ${backend}:\n  ${counts?.examples.join('\n  ')}`);
  }
  if (bad.length > 0) process.exitCode = 1;
}

async function runTable(clients: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const stage of STAGES) {
    for (const backend of stage.backends) {
      if (values.backend !== undefined && values.backend !== backend) continue;
      const faults = stage.faults.filter(({ name }) =>
        `${stage.name} ${name} ${backend}`.includes(values.only ?? ''),
      );
      if (faults.length === 0) continue;
      const times = values.short ? 1 : TIMES;
      const effort = { clients, times, overloadMs: overloadMs(), onRow };
      rows.push(...(await runStage({ ...stage, faults }, backend, effort)));
    }
  }
  return rows;
}

function overloadMs(): number {
  const minutes = values['overload-minutes'];
  if (minutes === undefined && values.short) return SHORT_OVERLOAD_MS;
  return 60_000 * Number(minutes ?? OVERLOAD_MINUTES);
}

function onRow({ fault, backend, skipped, counts, memoryBytes = 0 }: Row): void {
  const told = skipped
    ? `skipped: ${skipped}`
    : `${counts?.tries} tries, ${counts?.right} right, refused ${JSON.stringify(counts?.codes)}, ${counts?.wrong} wrong, ${counts?.lost} lost, right again after ${Math.round(counts?.recoveryMs ?? 0)} ms, ${Math.round(memoryBytes / 2 ** 20)} MiB`;
  console.error(`${Math.round(performance.now() / 1000)} s ${backend}, ${fault}: ${told}`);
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
