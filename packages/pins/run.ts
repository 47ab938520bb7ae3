/**
 * `npm run pins`: looks up every pinned version, moves those that can move, runs what a change must pass, and writes the
 * changelog's entry. If that fails, everything is as before. `--help` has the options.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PINNED_PYTHON } from '@sagemaker-tfs/libtensorflow/pinned-wheel';
import { table } from '../../tools/table.ts';
import { withMoves } from './changelog.ts';
import { findPins } from './find-pins.ts';
import { type Moved, movesOf } from './moves.ts';
import { type Pin, placeText } from './pin.ts';
import { plan, type Row } from './plan.ts';
import { type Registries, realRegistries } from './registries.ts';
import { Repository } from './repository.ts';

const USAGE = `npm run pins -- [--dry-run] [--major NAME]... [--check COMMAND] [NAME]...

Moves base images (by digest), TensorFlow, Node and packages to the newest that are compatible.

  NAME             only these; all without one
  --dry-run        print what is pinned, what is newest and where, and change nothing
  --major NAME     this one may move to another major version (below 1.0: minor version)
  --check COMMAND  what must pass (default: STRICT=1 .ci/run)
`;

/** What a run needs. The tests put others here. */
export interface Setting {
  readonly repository: Repository;
  readonly registries: Registries;
  readonly print: (text: string) => void;
}

/** @returns the exit status */
export async function pins(args: readonly string[], setting: Setting): Promise<number> {
  const { repository, print } = setting;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      major: { type: 'string', multiple: true, default: [] },
      check: { type: 'string', default: 'STRICT=1 .ci/run' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const files = repository.files();
  const known = findPins(files);
  requireKnown([...positionals, ...values.major], known);
  if (!values['dry-run']) repository.requireClean();
  // `--major X` alone is about X.
  const names = new Set(positionals.length > 0 ? [...positionals, ...values.major] : []);
  const wanted = {
    names,
    majors: new Set(values.major),
    servingReleases: servingReleases(repository),
  };
  const looked = known.filter(
    ({ name }) => names.size === 0 || names.has(name) || isTensorFlow(name, names),
  );
  const rows = await plan(looked, wanted, setting.registries);
  if (values['dry-run']) {
    print(`${tableOf(rows)}\n`);
    sayUnreachable(rows, print);
    return 0;
  }
  const moved = await movesOf(rows, files, setting.registries);
  sayUnreachable(rows, print);
  return move(moved, values.check, setting);
}

/** TensorFlow takes the packages with it that hang on it. */
function isTensorFlow(name: string, names: ReadonlySet<string>): boolean {
  return names.has('tensorflow') && /^(tensorflow-cpu|nvidia-.*)$/.test(name);
}

function requireKnown(names: readonly string[], known: readonly Pin[]): void {
  const missing = names.filter((name) => !known.some((pin) => pin.name === name));
  if (missing.length === 0) return;
  throw new Error(
    `Nothing is pinned by the name ${missing.join(', ')}. --dry-run lists the names.`,
  );
}

function servingReleases(repository: Repository): ReadonlySet<string> {
  const { releases } = JSON.parse(repository.read('container/image/tensorflow-serving.json')) as {
    readonly releases: readonly { readonly versions: readonly string[]; readonly runs: boolean }[];
  };
  return new Set(releases.filter(({ runs }) => runs).flatMap(({ versions }) => versions));
}

function tableOf(rows: readonly Row[]): string {
  return table(
    ['name', 'pinned', 'newest', 'moves', 'where'],
    rows.map(({ pin, newest, target, note, unreachable }) => [
      pin.name,
      pin.version,
      newest ?? '?',
      unreachable === undefined ? (target ?? (note ? `no: ${note}` : 'no')) : 'not reached',
      [...new Set(pin.places.map(placeText))].join(', '),
    ]),
  );
}

function sayUnreachable(rows: readonly Row[], print: (text: string) => void): void {
  const lost = rows.filter(({ unreachable }) => unreachable !== undefined);
  if (lost.length === 0) return;
  const lines = lost.map(({ pin, unreachable }) => `  ${pin.name} ${pin.version}: ${unreachable}`);
  print(`\nNot reached, so they stay as they are:\n${lines.join('\n')}\n`);
}

function move({ moves, files }: Moved, check: string, { repository, print }: Setting): number {
  if (moves.length === 0) {
    print('Nothing can move.\n');
    return 0;
  }
  for (const { name, from, to } of moves) print(`${name} ${from} -> ${to}\n`);
  let touched: readonly string[] = [];
  try {
    for (const file of files) repository.write(file);
    const path = 'CHANGELOG.md';
    repository.write({ path, text: withMoves(repository.read(path), moves) });
    repository.lock(files.map((file) => file.path));
    touched = repository.changed();
    repository.run('bash', ['-c', check]);
  } catch (error) {
    // Before the check: whatever has been written by then, as nothing else was changed.
    const paths = touched.length > 0 ? touched : repository.changed();
    repository.restore(paths);
    print(
      `${(error as Error).message} Everything is as before. Move fewer: npm run pins -- NAME.\n`,
    );
    if (paths.includes('package-lock.json')) repository.install();
    return 1;
  }
  print('\nMoved, and all that must pass has passed. Read the diff and commit it.\n');
  return 0;
}

/** A program of its own, not a part of the tests. */
if (process.argv[1] === import.meta.filename) {
  const repository = new Repository(join(import.meta.dirname, '..', '..'));
  const { engines } = JSON.parse(repository.read('package.json')) as { engines: { node: string } };
  const registries = realRegistries(engines.node, PINNED_PYTHON);
  // The check ends with the signal, and then all is restored.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  pins(process.argv.slice(2), {
    repository,
    registries,
    print: (text) => process.stdout.write(text),
  })
    .then((status) => {
      process.exitCode = status;
    })
    .catch((error: Error) => {
      process.stderr.write(`pins: ${error.message}\n`);
      process.exitCode = 1;
    });
}
