/** A test waits for what it wants to see, and not for a time that was long enough on somebody's machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Waits for a fixed time that must stay: how many the file has, and why. */
const ALLOWED: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'bench/lib/kept-connection.test.ts': [
    1,
    "the server's end follows its answer, and no event shows it",
  ],
  'cli/src/batch/local/agent.test.ts': [2, 'how long the stub works'],
  'cli/src/batch/worker/ends.test.ts': [1, 'how long the handler works'],
  'cli/src/main.test.ts': [1, 'two signals as a terminal and npm send them, one after the other'],
  'cli/src/terminal/serve-terminal.test.ts': [1, 'how long the handler works'],
  'container/src/backends/joining.test.ts': [1, 'how long the model works'],
  'container/src/batch-worker/in-order.test.ts': [1, 'how long the work takes'],
  'container/src/http/hostile-clients.test.ts': [
    2,
    'longer than a first try, after which nothing is to happen',
  ],
  'container/src/observability/timings.test.ts': [1, 'how long a part takes'],
  'container/src/processes/processes.test.ts': [1, 'a client that reads slowly'],
  'lib/smoke-test/handler/index.test.ts': [1, 'how long the endpoint works'],
  'local-model-server/src/server.test.ts': [
    2,
    'a call that TensorFlow works on, or that waits in a queue, shows nothing',
  ],
  'test/axe/axe.test.ts': [1, 'how long the stub works'],
  'test/fuzz/end-to-end.ts': [1, 'the last lines of a log, which nothing announces'],
};

/** A wait, awaited by name or as the promise of a timer, whose time is written out. */
const WAIT =
  /await (?:delay|sleep|setTimeout|wait)\([\d_]+\)|\(\((\w+)\) => setTimeout\(\1, [\d_]+\)\)/;
/** A step of a loop that ends as soon as something is there. */
const LOOP = /^\s*(?:while|for|do)\b|\bwhile \(/;
/** Lines above a wait among which its loop begins. */
const NEAR = 4;

function fixedWaits(file: string): number {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.filter(
    (line, at) =>
      WAIT.test(line) &&
      !lines.slice(Math.max(0, at - NEAR), at + 1).some((near) => LOOP.test(near)),
  ).length;
}

/** Tests, and what they share. */
const FILES = ['*.test.ts', '*.test.tsx', '*/testing/*.ts', '*/test/*.ts', 'test/fuzz/*.ts'];

test('no test waits for a fixed time without a reason', () => {
  const found = trackedFiles(...FILES).flatMap((file) => {
    const count = fixedWaits(file);
    return count > 0 ? [[file, count] as const] : [];
  });
  const allowed = Object.entries(ALLOWED).map(([file, [count]]) => [file, count]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(allowed));
});
