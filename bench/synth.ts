/** `cdk synth` of the app against an empty CDK app with the same toolchain. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Bench, Findings } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { median } from './lib/median.ts';
import { ROOT } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const RUNS = { full: 3, quick: 1 };
const FIRST = 'this app, first synth';
const UNCHANGED = 'this app, unchanged model';
const EMPTY = 'an empty app without the validator';
const COMMAND = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).app as string;

const NO_VALIDATOR = '{ builtinCloudFormationValidation: false }';
const FROM_TS = `import { App, Stack } from 'aws-cdk-lib/core';\n`;
const FROM_JS = `const { App, Stack } = require('aws-cdk-lib/core');\nrequire('tsx/cjs/api').register()();\n`;

/**
 * Name, file and source. The CDK's validator takes longer than all else together; this app has it off and
 * runs it in its tests. The one in JavaScript loads TypeScript's loader as this app does, and no TypeScript.
 */
const EMPTY_APPS = [
  [EMPTY, 'empty.ts', `${FROM_TS}new Stack(new App(${NO_VALIDATOR}), 'Empty');\n`],
  [
    'the same in JavaScript',
    'empty.js',
    `${FROM_JS}new Stack(new App(${NO_VALIDATOR}), 'Empty');\n`,
  ],
  ['an empty app', 'default.ts', `${FROM_TS}new Stack(new App(), 'Empty');\n`],
] as const;

export const synth: Bench = {
  name: 'synth',
  question: 'How long does cdk synth take?',
  async run({ quick, log }): Promise<Findings> {
    const work = temporaryDirectory();
    // Beside the app itself, so that they resolve the same packages; CommonJS, as the CDK's own templates.
    const folder = join(ROOT, 'bench', '.build', 'synth');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}');
    const empty = EMPTY_APPS.map(([name, file, source]) => {
      writeFileSync(join(folder, file), source);
      const loader = file.endsWith('.ts') ? '--import tsx ' : '';
      return [name, `node ${loader}${join(folder, file)}`] as const;
    });
    const apps = [[FIRST, COMMAND], [UNCHANGED, COMMAND], ...empty] as const;
    const seconds = new Map(apps.map(([name]) => [name, [] as number[]]));
    const runs = quick ? RUNS.quick : RUNS.full;
    try {
      await synthOnce(COMMAND, join(work, UNCHANGED));
      // In turns, so that a busy machine is busy for all.
      for (let run = 0; run < runs; run++) {
        for (const [name, app] of apps) {
          const out = join(work, name === FIRST ? `${name} ${run}` : name);
          seconds.get(name)?.push(await synthOnce(app, out));
        }
      }
      const rows = apps.map(([name]) => ({ name, seconds: median(seconds.get(name) ?? []) }));
      for (const row of rows) log(`${row.name}: ${row.seconds.toFixed(1)} s`);
      const base = Number(rows.find(({ name }) => name === EMPTY)?.seconds);
      return {
        tables: [
          {
            title: `\`cdk synth\`, ${runs} runs (baseline: ${EMPTY})`,
            columns: columns({
              name: 'App',
              seconds: 'Median seconds',
              more: 'Seconds more than the baseline',
              ratio: 'Against the baseline',
            }),
            rows: rows.map((row) => ({
              ...row,
              more: row.seconds - base,
              ratio: row.seconds / base,
            })),
          },
        ],
      };
    } finally {
      removeDirectory(work);
    }
  },
};

async function synthOnce(app: string, out: string): Promise<number> {
  const args = ['synth', '--quiet', '--app', app, '--output', out];
  const from = performance.now();
  await execa(join(ROOT, 'node_modules', '.bin', 'cdk'), args, {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return (performance.now() - from) / 1_000;
}
