/** A user's project: an empty directory outside this repository, with the packed packages installed from tarballs. */
import {
  type ChildProcessByStdio,
  type SpawnSyncReturns,
  spawn,
  spawnSync,
} from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';

/** This repository. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** What `npm run packages` made. */
export const TARBALLS = readdirSync(join(ROOT, 'dist-packages'))
  .filter((name) => name.endsWith('.tgz'))
  .map((name) => join(ROOT, 'dist-packages', name));

/** What a process left. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project. */
export interface Project {
  readonly directory: string;
  /** Verbs of the command that have done their work here: `serve`, `batch local`. */
  readonly ran: ReadonlySet<string>;
  /** Writes files by their paths. */
  write(files: Readonly<Record<string, string>>): void;
  /** Runs a program to its end. @throws Error with what it said where its status is not `status`, 0 by default */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Runs the installed `sagemaker-tfs`. */
  command(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Starts the installed `sagemaker-tfs` and leaves it running. */
  start(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): ChildProcessByStdio<null, Readable, Readable>;
  /** The environment of what is run here: nothing of the process that runs it helps. */
  environment(): NodeJS.ProcessEnv;
  /** A new, empty one, with the same Node. */
  another(): Project;
  /** From now on `node` is the program in this folder; `remove` removes `DIRECTORY-node` too. */
  useNode(folder: string): void;
  remove(): void;
}

/** How a program is run. */
export interface RunOptions {
  readonly status?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
}

/** The installed command, below the project. */
const COMMAND = 'node_modules/.bin/sagemaker-tfs';

/** What npm tells a script of the repository that it runs in; a registry and certificates stay. */
const OF_THIS_RUN =
  /^(npm_(lifecycle|package|command|execpath|node_execpath|config_local_prefix)|NODE_(OPTIONS|PATH)$|INIT_CWD$)/;

/** Nothing of the process that runs this may help: no npm of it, no path into the repository. */
function environmentOf(
  more: Readonly<Record<string, string>> = {},
  nodeFolder?: string,
): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name));
  const path = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':');
  const first = nodeFolder ? `${nodeFolder}:` : '';
  // What the first installation fetched is what the others want.
  const npm = { npm_config_prefer_offline: 'true' };
  // aws-cdk-lib's validation of templates takes three quarters of a synth; the ten minutes have it.
  const cdk = { CDK_VALIDATION: 'false' };
  const fixed = { PATH: `${first}${path}`, CI: 'true', ...npm, ...cdk };
  return { ...Object.fromEntries(own), ...fixed, ...more };
}

/** The project in a folder. Default: a new, empty one. */
export function projectIn(folder = mkdtempSync(join(tmpdir(), 'installed-'))): Project {
  // Real, because macOS and some CI machines link their temporary folder.
  const directory = realpathSync(folder);
  let nodeFolder: string | undefined;
  const ran = new Set<string>();
  const run = (program: string, args: readonly string[], options: RunOptions = {}) =>
    runProgram(directory, program, args, { ...options, ...(nodeFolder && { nodeFolder }) });
  return {
    directory,
    ran,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        const file = join(directory, name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    },
    run,
    async command(args, options) {
      const outcome = await run(COMMAND, args, options);
      if (outcome.status === 0) ran.add(verbOf(args));
      return outcome;
    },
    start(args, environment) {
      ran.add(verbOf(args));
      return spawn(COMMAND, args, {
        cwd: directory,
        env: environmentOf(environment, nodeFolder),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    },
    environment: () => environmentOf({}, nodeFolder),
    another() {
      const other = projectIn();
      if (nodeFolder) other.useNode(nodeFolder);
      return other;
    },
    useNode(folder) {
      nodeFolder = folder;
    },
    remove() {
      for (const folder of [directory, `${directory}-node`]) {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Verbs that have verbs below them. */
const GROUPS = ['batch', 'captures'];

function verbOf([verb = '', below = '']: readonly string[]): string {
  return GROUPS.includes(verb) ? `${verb} ${below}` : verb;
}

async function runProgram(
  cwd: string,
  program: string,
  args: readonly string[],
  { status: wanted = 0, environment, input, nodeFolder }: RunOptions & { nodeFolder?: string },
): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: environmentOf(environment, nodeFolder) });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part;
    });
  }
  child.stdin.on('error', () => undefined).end(input);
  const status = await new Promise<number>((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => done(code ?? 1));
  });
  if (status === wanted) return { status, ...text };
  throw new Error(
    `${program} ${args.join(' ')} ended with ${status}, not ${wanted}\n${text.stdout}\n${text.stderr}`,
  );
}

/** Runs a program of this repository and gives what it left, whatever its status. */
export function ownProgram(program: string, args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(join(ROOT, 'node_modules/.bin', program), args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
}
