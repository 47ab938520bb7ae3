/** docs/reliability.md: each run writes the section that is its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withNext, withoutNext } from '../../docs/navigation.ts';
import { machine, today } from '../../tools/machine.ts';
import type { Row } from './stage.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reliability.md');

const HEAD = `# Reliability

What happens to requests while something fails. \`npm run faults\` starts the built runtime with the digits model and its
handler, has honest clients ask it without a pause (pictures, and JSON of one and of 64 rows; every other client keeps
its connection), breaks something, and compares every answer with the one that the same runtime gave before.
In a clone of this repository:

\`\`\`sh
npm run faults -- --short           # the whole table once, as in CI
npm run faults                      # each fault five times as long, overloads for 10 minutes, for 20 minutes or once
npm run faults -- --minutes 60      # again and again
npm run faults -- --only worker     # some rows
npm run axe                         # a local batch job that is killed 50 times
npm run axe:worker                  # a batch worker over a million generated pictures that is killed 20 times
npm run soak -- --minutes 60        # no fault: a steady load of all codecs
\`\`\`

- **right**: status 200, and the same bytes as before.
- **refused**: an error that says why, and that it is not the client's fault: \`MODEL_NOT_READY\`, \`MODEL_SERVER_GONE\`,
  \`PROCESS_GONE\`, \`OVERLOADED\` (503), \`REQUEST_TIMEOUT\` (504). While a model is withdrawn also \`MODEL_NOT_FOUND\`.
  Of clients that smuggle: 400, and the connection is closed.
- **wrong**: any other answer.
- **lost**: the connection ended without an answer, or none came in 30 s. If a kept connection ends before an answer
  begins, the request is sent again, as all clients do. An answer that a killed process had begun to send cannot be saved: the log
  counts it (\`cut\`), and so does the table, among the refused.
- Of hostile requests (crafted bodies, attributes, framing, changes of models) a 500 or no answer counts as wrong;
  whatever else they get stands among the refused.
- **right again**: from the fault, or from its end where it lasts, to the first right answer to a request sent after it.
- **slowest /ping**: another process asks every 250 ms. Whatever clients do, it must have its answer within a second of a
  processor of its own: that process measures which share of one it gets, and with half of one, two seconds are in time.
  A row with a late one is tried up to three times more. Where a process stands still or ends the time is only shown.
  Empty: a run before this was measured.
- **memory**: of all processes, the model server among them; shared pages count for each.

A run fails if one answer is wrong or lost, or \`/ping\` is late at every try.

### When TensorFlow Serving ends

It is started again, and its requests in flight are sent once more, each alone: so the one that ended it, if one did, takes no other
with it a second time. These go first, for 5 s in all; a request that comes meanwhile waits no longer than that and the restart.
If each takes long, the 5 s run out before every request has had its turn: the others get 503 \`MODEL_SERVER_GONE\` with \`Retry-After\`, and one that is
still at work then continues beside others. A request in flight at two ends is not sent a third time:

- 400 \`FATAL_REQUEST\` if it was alone at the second end, and TensorFlow Serving ended over a fault of its own (SIGABRT, SIGSEGV and
  the like, not for lack of memory): as for an answer above 2 GiB. Nobody should send it again.
- 503 \`MODEL_SERVER_GONE\` where the cause may be another: SIGKILL (memory), SIGTERM, or other requests beside it, also
  of other processes of the runtime.

Ends without a request at work make the next restart wait longer, up to 30 s.

In-process, TensorFlow ends the worker, and the requests in it get 503 \`PROCESS_GONE\`. After the first such end workers tell the process above
which requests are at work, by fingerprints of their values. Those at work at an end are tried one at a time when they are sent again, and the one
at work at a second end gets 400 \`FATAL_REQUEST\` from then on, without being run. The same bytes end three workers at most. Whoever
changes a value each time can end more: have the model check its inputs.

### At the end

After SIGTERM new connections are refused: that is the one answer that every client and balancer takes for "ask somebody else", and no
request is lost with it. Requests in flight finish, for \`SAGEMAKER_TFS_SHUTDOWN_TIMEOUT_SECONDS\` at most, and what comes on a kept connection is
answered for 250 ms more, as its client could not know. All these answers carry \`Connection: close\`. TensorFlow Serving, even one
that hangs, is ended within the same time, so that the default of 25 s stays below the 30 s that SageMaker waits.
`;

const TABLE_HEAD = `| fault | backend | clients | tries | right | refused | wrong | lost | right again, ms | slowest /ping, ms | memory, MiB |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |
`;

/**
 * Writes the table of faults.
 * @param options of the command, to be told
 * @param isPart whether the other rows stay
 */
export function writeFaults(
  rows: readonly Row[],
  options: readonly string[],
  isPart: boolean,
): void {
  const told = options
    .filter((option) => option !== '--write')
    .map((option) => (option.includes(' ') ? `'${option}'` : option))
    .join(' ');
  const run = `Run on ${today()} with \`npm run faults${told && ` -- ${told}`}\`, on ${machine()}.`;
  const [intro = '', table = ''] = isPart
    ? (sectionsNow().get('Faults') ?? '').split(TABLE_HEAD)
    : [];
  const lines = new Map(
    [...table.split('\n'), ...together(rows).map(rowLine)]
      .filter(Boolean)
      .map((line): [string, string] => [line.split(' | ').slice(0, 2).join(), line]),
  );
  const intros = [...intro.split('\n').filter((line) => line && line !== run), run];
  const text = [...intros, '', `${TABLE_HEAD}${[...lines.values()].join('\n')}`];
  writeSection('Faults', text.join('\n'));
}

/** The sections of the page as it is, by title. */
function sectionsNow(): Map<string, string> {
  const before = existsSync(PAGE) ? withoutNext(readFileSync(PAGE, 'utf8')) : '';
  return new Map(
    before
      .split(/^## /m)
      .slice(1)
      .map((section): [string, string] => {
        const end = section.indexOf('\n');
        return [section.slice(0, end), section.slice(end).trim()];
      }),
  );
}

/** Replaces one section of the page and leaves the others. */
export function writeSection(title: string, text: string): void {
  const sections = sectionsNow();
  sections.set(title, text.trim());
  const all = [...sections].sort(([a], [b]) => (a < b ? -1 : 1));
  const page = [HEAD, ...all.map(([name, body]) => `## ${name}\n\n${body}\n`)].join('\n');
  writeFileSync(PAGE, withNext('docs/reliability.md', page));
}

/** Rows of several rounds added up. */
function together(rows: readonly Row[]): Row[] {
  const byName = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.fault} ${row.backend}`;
    const other = byName.get(key);
    byName.set(key, other ? sum(other, row) : row);
  }
  return [...byName.values()];
}

function sum(a: Row, b: Row): Row {
  if (!a.counts || !b.counts) return a;
  const codes: Record<string, number> = { ...a.counts.codes };
  for (const [code, count] of Object.entries(b.counts.codes)) {
    codes[code] = (codes[code] ?? 0) + count;
  }
  return {
    ...a,
    pingMs: Math.max(a.pingMs ?? 0, b.pingMs ?? 0),
    memoryBytes: Math.max(a.memoryBytes ?? 0, b.memoryBytes ?? 0),
    counts: {
      tries: a.counts.tries + b.counts.tries,
      right: a.counts.right + b.counts.right,
      refused: a.counts.refused + b.counts.refused,
      wrong: a.counts.wrong + b.counts.wrong,
      lost: a.counts.lost + b.counts.lost,
      codes,
      recoveryMs: Math.max(a.counts.recoveryMs ?? 0, b.counts.recoveryMs ?? 0),
      examples: [...a.counts.examples, ...b.counts.examples],
    },
  };
}

function rowLine(row: Row): string {
  const { fault, backend, clients, skipped, inapplicable, counts, pingMs = 0 } = row;
  const { memoryBytes = 0 } = row;
  if (!counts) {
    const why = inapplicable ? `does not apply: ${inapplicable}` : `not tried: ${skipped}`;
    return `| ${fault} | ${backend} | ${clients} | ${why} | | | | | | | |`;
  }
  const number = (value: number) => Math.round(value).toLocaleString('en');
  const codes = Object.entries(counts.codes).map(([code, count]) => `${code} ${number(count)}`);
  const refused = [number(counts.refused), codes.length > 0 && `(${codes.join(', ')})`];
  const cells = [
    fault,
    backend,
    number(clients),
    number(counts.tries),
    number(counts.right),
    refused.filter(Boolean).join(' '),
    number(counts.wrong),
    number(counts.lost),
    number(counts.recoveryMs ?? 0),
    number(pingMs),
    number(memoryBytes / 2 ** 20),
  ];
  return `| ${cells.join(' | ')} |`;
}
