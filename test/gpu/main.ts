/**
 * `npm run gpu`: all that a machine with a GPU can prove, in one command and without network, Python or git.
 * Ends with 0 if everything was measured and right, 1 if something is wrong, 2 for wrong usage, and 3 if the machine
 * lacks what it takes; the last lines say what.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runTask } from './child.ts';
import { measureAll } from './steps.ts';
import type { Task } from './tasks.ts';

const USAGE = `usage: npm run gpu -- [--seconds N] [--out DIR] [--allow-cpu] [--only STEP[,STEP]] [--note TEXT]...

  --seconds    how long to measure at most (default: 240); what the time does not allow is left out, and named
  --out        folder for GPU.md and gpu.json (default: bench/, and bench/results/)
  --allow-cpu  continues if TensorFlow has no GPU, to try the command itself; shows the page and writes nothing
  --only       of these steps alone: goldens, models, sweeps, memory, serving
  --note       a sentence for the page, such as how the library was made

LIBTENSORFLOW_PATH names the directory of libtensorflow_cc.so.2 and libtensorflow_framework.so.2, built for GPUs.
`;

async function main(): Promise<number> {
  const [first, json] = process.argv.slice(2);
  if (first === '--task') {
    const result = await runTask(JSON.parse(json as string) as Task);
    // TensorFlow's threads need not end in order.
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
    return 0;
  }
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '240' },
      out: { type: 'string', default: '.' },
      'allow-cpu': { type: 'boolean', default: false },
      only: { type: 'string' },
      note: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  if (values.help || !(seconds > 0)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  // One for all processes, those of the runtime too: a GPU newer than the library compiles kernels once.
  process.env.CUDA_CACHE_PATH ??= join(tmpdir(), 'cuda-cache');
  return measureAll({
    seconds,
    out,
    allowCpu: values['allow-cpu'],
    notes: values.note,
    only: values.only?.split(','),
    home: join(import.meta.dirname, '..', '..'),
    program: import.meta.filename,
  });
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
main().then(
  (status) => {
    process.exitCode = status;
  },
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  },
);
