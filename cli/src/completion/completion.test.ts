/** The completion scripts in the shells that they are for. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../main.ts';
import { tableOf } from './command-table.ts';
import { SCRIPTS, SHELLS } from './scripts.ts';

const TESTING = join(__dirname, 'testing');
const table = tableOf(program());
const verbs = program().commands.map((verb) => verb.name());

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'completion-test-'));
  for (const shell of SHELLS) writeFileSync(join(work, shell), SCRIPTS[shell](table));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

type Shell = (typeof SHELLS)[number];

/** Program and arguments that print what a shell offers behind a line. */
const ASK: Readonly<Record<Shell, (script: string, line: string) => string[]>> = {
  bash: (script, line) => ['bash', '--norc', join(TESTING, 'complete.bash'), script, line],
  zsh: (script, line) => ['zsh', '-f', join(TESTING, 'complete.zsh'), script, line],
  fish: (script, line) => [
    ...['fish', '--no-config', '-c', 'source $argv[1]; complete -C $argv[2]'],
    ...[script, line],
  ],
};

/** What is offered, sorted, descriptions left out. */
function offered(shell: Shell, line: string): string[] {
  const [command = '', ...args] = ASK[shell](join(work, shell), `sagemaker-tfs ${line}`);
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: work });
  expect([stderr, status]).toEqual(['', 0]);
  const lines = stdout.split('\n').filter((text) => text !== '');
  return lines.map((text) => text.split('\t', 1)[0] as string).sort();
}

const isHere = (shell: Shell) => spawnSync(shell, ['--version']).status === 0;

for (const shell of SHELLS) {
  const inShell = isHere(shell) ? describe : describe.skip;
  inShell(isHere(shell) ? shell : `${shell} (skipped: no ${shell} on PATH)`, () => {
    test('verbs', () => {
      expect(offered(shell, '')).toEqual(expect.arrayContaining(verbs));
      expect(offered(shell, 'ba')).toEqual(['batch']);
      expect(offered(shell, 'batch lo')).toEqual(['local']);
      expect(offered(shell, 'help ba')).toEqual(['batch']);
      expect(offered(shell, 'completion ')).toEqual([...SHELLS].sort());
    });

    test('options, those of the program too', () => {
      expect(offered(shell, 'serve model --back')).toEqual(['--backend']);
      expect(offered(shell, 'batch local --q')).toEqual(['--quiet']);
      expect(offered(shell, 'batch local in --max-p')).toEqual(['--max-payload']);
    });

    test('values where there are few, files elsewhere', () => {
      writeFileSync(join(work, 'inference.ts'), '');
      expect(offered(shell, 'serve model --backend ')).toEqual(['grpc', 'in-process', 'rest']);
      expect(offered(shell, 'batch local in --split-type T')).toEqual(['TFRecord']);
      // bash says nothing, and then completes files itself.
      const files = shell === 'bash' ? [] : ['inference.ts'];
      expect(offered(shell, 'serve model --handler inf')).toEqual(files);
      expect(offered(shell, 'serve inf')).toEqual(files);
    });

    test('an argument or a value that is called as a verb is none', () => {
      expect(offered(shell, 'serve --handler batch --back')).toEqual(['--backend']);
      expect(offered(shell, 'init batch --temp')).toEqual(['--template']);
    });
  });
}

test('every option with few values has them in bash', () => {
  const limited = table.flatMap(({ path, options }) =>
    options.filter(({ choices }) => choices.length > 0).map((option) => ({ path, ...option })),
  );
  expect(limited.length).toBeGreaterThan(5);
  for (const { path, long, choices } of limited) {
    expect([long, ...offered('bash', `${path} ${long} `)]).toEqual([long, ...[...choices].sort()]);
    expect(offered('bash', `${path} ${long}=`)).toEqual([...choices].sort());
  }
});
