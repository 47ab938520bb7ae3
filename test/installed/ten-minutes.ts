/**
 * The ten minutes of a new user, from two tarballs in an empty directory, really run: init, serve, invoke, test, synth,
 * rehearse. `npm run ten-minutes` writes what was printed to docs/ten-minutes.md; `npm run test:installed` runs the same
 * commands and fails where one fails, or where the page shows others.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withNext } from '../../docs/navigation.ts';
import { inTerminal } from '../../tools/in-terminal.ts';
import { type Project, projectIn, ROOT, TARBALLS } from './project.ts';

const PAGE = join(ROOT, 'docs/ten-minutes.md');
/** The command's, without the constructs. */
const COMMAND_TARBALL = TARBALLS.map((path) => basename(path)).find(
  (name) => !name.startsWith('sagemaker-tfs-cdk-'),
);
/** What the transcript calls the empty directory. */
const HOME = '~/work';

/** One command. */
interface Step {
  /** Said before it. */
  readonly text: string;
  readonly command: string;
  /** Below the empty directory. */
  readonly folder?: string;
  /** Runs until the next step has ended; it is ready once this address answers. */
  readonly readyAt?: string;
  /** What it must print. */
  readonly prints: RegExp;
}

const PORT = 8080;
const COLUMNS = 100;

const STEPS: readonly Step[] = [
  {
    text: 'The command. It fetches TensorFlow’s library when it first needs it (about 270 MB, once).',
    command: `npm install --no-audit --no-fund ./packages/${COMMAND_TARBALL}`,
    prints: /added \d+ packages/,
  },
  {
    text: 'A project around a model. Without `--model my_model/` it is a tiny example that computes x / 2 + 3.',
    command: 'npx sagemaker-tfs init halves --template endpoint',
    prints: /serving\.config\.ts/,
  },
  {
    text: 'What the project needs, both packages from their tarballs.',
    command: 'npm install --no-audit --no-fund ../packages/*.tgz',
    folder: 'halves',
    prints: /added \d+ packages/,
  },
  {
    text: 'Served as SageMaker would serve it, with a page to try it at <http://127.0.0.1:8080>.',
    command: 'npm run --silent serve',
    folder: 'halves',
    readyAt: `http://127.0.0.1:${PORT}/ping`,
    prints: /Playground +http:\/\/127\.0\.0\.1:8080\/[\s\S]*q quit/,
  },
  {
    text: 'In another terminal: the sample that `init` made.',
    command: 'npx sagemaker-tfs invoke samples/sample.npz',
    folder: 'halves',
    prints: /"predictions"/,
  },
  {
    text: 'The project’s test: the real model behind the real runtime answers its sample as it did.',
    command: 'npm test --silent',
    folder: 'halves',
    prints: /pass 1\b/,
  },
  {
    text: 'What would be deployed, checked; no AWS account is needed.',
    command: 'npm run synth',
    folder: 'halves',
    prints: /cdk synth/,
  },
  {
    text: 'The archive, packaged, tried out, and the stacks once more.',
    command: 'npm run --silent rehearse',
    folder: 'halves',
    prints: /Tried: \d+ of \d+ signatures ran/,
  },
];

/** A command with what it printed. */
interface Ran {
  readonly step: Step;
  readonly output: string;
  readonly seconds: number;
}

/** @throws Error where a command fails, does not print what it should, or the page shows other commands */
export async function checkTenMinutes(project: Project): Promise<void> {
  const page = readFileSync(PAGE, 'utf8');
  const shown = [...page.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command);
  assert.deepEqual(
    shown,
    STEPS.map(({ command }) => command),
    'docs/ten-minutes.md shows other commands; npm run ten-minutes writes it anew',
  );
  const empty = project.another();
  try {
    await runAll(empty);
  } finally {
    empty.remove();
  }
}

async function runAll(project: Project): Promise<Ran[]> {
  for (const tarball of TARBALLS) {
    cpSync(tarball, join(project.directory, 'packages', basename(tarball)));
  }
  const ran: Ran[] = [];
  let serving: Serving | undefined;
  for (const step of STEPS) {
    const from = performance.now();
    const folder = join(project.directory, step.folder ?? '.');
    if (step.readyAt !== undefined) {
      serving = await serve(project, step, step.readyAt, folder);
      ran.push({ step, output: serving.output(), seconds: secondsSince(from) });
      continue;
    }
    const line = `cd '${folder}' && ${step.command}`;
    const asUsers = { environment: { CDK_VALIDATION: 'true' } };
    const { stdout, stderr } = await project.run('bash', ['-c', line], asUsers);
    // Progress, then results.
    const output = `${stderr}${stdout}`;
    assert.match(output, step.prints, step.command);
    ran.push({ step, output, seconds: secondsSince(from) });
    await serving?.stop();
    serving = undefined;
  }
  return ran;
}

const secondsSince = (from: number) => (performance.now() - from) / 1_000;

interface Serving {
  output(): string;
  stop(): Promise<void>;
}

/** As in a terminal: a pipe gets log lines. */
async function serve(
  project: Project,
  step: Step,
  readyAt: string,
  folder: string,
): Promise<Serving> {
  const child = spawn('python3', inTerminal(ROOT, COLUMNS, ['bash', '-c', step.command]), {
    cwd: folder,
    env: { ...project.environment(), TERM: 'xterm', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
  });
  const closed = once(child, 'close');
  const isReady = () =>
    fetch(readyAt).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!step.prints.test(screen(raw)) || !(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${step.command} ended:\n${screen(raw)}`);
    await sleep(100);
  }
  const output = screen(raw);
  return {
    output: () => output,
    async stop() {
      child.stdin.write('q');
      await closed;
    },
  };
}

/** Without cursor movements, and of lines that were written over only the last state. */
function screen(raw: string): string {
  return (
    raw
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what cursor movements are made of
      .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
      .replace(/\r\n/g, '\n')
      .replace(/^.*\r/gm, '')
  );
}

/** Lines of a long output that are shown at its start and its end. */
const SHOWN = { first: 8, last: 12 };

function transcript(ran: readonly Ran[], directory: string): string {
  const total = ran.reduce((sum, { seconds }) => sum + seconds, 0);
  const parts = ran.map(({ step, output, seconds }) => {
    const lines = output
      .replaceAll(directory, HOME)
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^npm (warn|notice)/.test(line));
    const { first, last } = SHOWN;
    const shown =
      lines.length > first + last
        ? [...lines.slice(0, first), '...', ...lines.slice(-last)]
        : lines;
    const where = step.folder ? `${HOME}/${step.folder}` : HOME;
    const body = [`# in ${where}, ${seconds.toFixed(1)} s`, `$ ${step.command}`, ...shown];
    return `${step.text}\n\n\`\`\`console\n${body.join('\n')}\n\`\`\`\n`;
  });
  return `# Ten minutes

From two tarballs in an empty directory to a project that is tested and ready to deploy. \`npm run ten-minutes\` ran these
commands and wrote this page, and \`npm run test:installed\` runs them at every change. The times, together ${Math.round(total)} s,
are those of the machine that wrote it: ${availableParallelism()} processors, a load average of ${Math.round(loadavg()[0] as number)}, TensorFlow's library there already.

\`npm ci && npm run packages\` in a clone of the repository makes the tarballs; here they lie in \`${HOME}/packages\`.

${parts.join('\n')}
With an AWS account, \`npm run deploy\` is next: [First deploy](first-deploy.md).
`;
}

async function main(): Promise<void> {
  const project = projectIn();
  try {
    const page = transcript(await runAll(project), project.directory);
    writeFileSync(PAGE, withNext('docs/ten-minutes.md', page));
  } finally {
    project.remove();
  }
}

if (process.argv[1] === import.meta.filename) await main();
