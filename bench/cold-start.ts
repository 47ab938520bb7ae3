/** From the start of the process to the first answer, without a model to load. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, freePortRange } from 'sagemaker-tfs/development/serving';
import { endChild, startChild } from '../tools/children.ts';
import type { Bench, Findings } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { median } from './lib/median.ts';
import { ROOT } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const RUNS = { full: 11, quick: 3 };
const OURS = 'serving runtime';
const BARE = 'bare node:http server';

export const coldStart: Bench = {
  name: 'cold-start',
  question: 'How long until the runtime listens?',
  async run({ quick, log }): Promise<Findings> {
    const runs = quick ? RUNS.quick : RUNS.full;
    const ours: number[] = [];
    const bare: number[] = [];
    for (let run = 0; run < runs; run++) {
      ours.push(await listening(runtime));
      bare.push(await listening(bareServer));
    }
    log(`${OURS}: ${median(ours).toFixed(0)} ms, ${BARE}: ${median(bare).toFixed(0)} ms`);
    const row = (name: string, times: readonly number[]) => ({
      name,
      median: median(times),
      min: Math.min(...times),
      max: Math.max(...times),
      ratio: median(times) / median(bare),
    });
    return {
      tables: [
        {
          title: `Milliseconds to listening, ${runs} starts (baseline: ${BARE})`,
          columns: columns({
            name: 'Program',
            median: 'Median',
            min: 'Least',
            max: 'Most',
            ratio: 'Median against the baseline',
          }),
          rows: [row(OURS, ours), row(BARE, bare)],
        },
      ],
      targets: [
        {
          what: 'Cold start to listening, model load apart',
          bound: 'at most',
          target: 400,
          measured: median(ours),
          unit: 'ms',
        },
      ],
    };
  },
};

interface Program {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  clean(): void;
}

async function runtime(port: number): Promise<Program> {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'model', '1'), { recursive: true });
  writeFileSync(join(directory, 'model', '1', 'saved_model.pb'), '');
  const first = await freePortRange(2);
  const environment = {
    PATH: `${join(ROOT, 'bench', 'canned', 'bin')}${delimiter}${process.env.PATH}`,
    CANNED_CASE: 'S8',
    SAGEMAKER_BIND_TO_PORT: String(port),
    SAGEMAKER_SAFE_PORT_RANGE: `${first}-${first + 1}`,
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_TFS_LOG_LEVEL: 'warn',
  };
  const args = [join(ROOT, 'container', 'dist', 'main.js')];
  return { args, environment, clean: () => removeDirectory(directory) };
}

async function bareServer(port: number): Promise<Program> {
  const source = `require('node:http').createServer((_, r) => r.end()).listen(${port})`;
  return { args: ['-e', source], environment: {}, clean: () => undefined };
}

/** Milliseconds until the port accepts a connection. */
async function listening(programOf: (port: number) => Promise<Program>): Promise<number> {
  const port = await freePort();
  const { args, environment, clean } = await programOf(port);
  const from = performance.now();
  const child = startChild(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, ...environment },
  });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
    await sleep(2);
  }
  const milliseconds = performance.now() - from;
  await endChild(child);
  clean();
  return milliseconds;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}
