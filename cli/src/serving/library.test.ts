/** The fetch of the library as a person sees it: interrupted, and refused. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commandLine, startInTerminal } from '../terminal/testing/terminal.ts';
import { freePort } from './free-port.ts';
import { findOnPath } from './model-server.ts';

const MODEL = join(__dirname, '..', '..', '..', 'test/fixtures/models/half_plus_two/2');

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'library-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** Downloads for ever. */
const SLOW = 'echo $$ > pip.pid; head -c 5000000 /dev/zero > "$TMPDIR/wheel"; exec sleep 600';

/** No library is here, and pip, of a `python3` without TensorFlow, does this. The terminal is a program of the real one. */
function withoutLibrary(pip: string): NodeJS.ProcessEnv {
  const real = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).trim();
  const script = `#!/bin/sh
case "$1" in
  -c) exit 1 ;;
  -m) ${pip} ;;
esac
exec '${real}' "$@"
`;
  writeFileSync(join(work, 'python3'), script, { mode: 0o755 });
  // With TensorFlow Serving there, `serve` needs no library.
  const others = (process.env.PATH ?? '').split(delimiter).filter((folder) => !findOnPath(folder));
  const PATH = [work, ...others].join(delimiter);
  return { PATH, XDG_CACHE_HOME: work, LIBTENSORFLOW_PATH: '' };
}

/** A shell that lives on, and says whether the terminal's modes are what they were. */
const SHELL = `modes=$(stty -g); trap : INT; "$@"; echo "status $?"
[ "$(stty -g)" = "$modes" ] && echo 'the modes of before'`;

test.each([
  ['package', 1, async () => ['--out', 'model.tar.gz']],
  ['serve', 0, async () => ['--port', String(await freePort())]],
] as const)(
  'Ctrl-C in the download of `%s`: the terminal is as before, nothing is left',
  async (verb, status, options) => {
    const program = commandLine(verb, MODEL, ...(await options()));
    const shell = ['bash', '-c', SHELL, 'bash', ...program];
    const terminal = startInTerminal(shell, withoutLibrary(SLOW), work);
    try {
      await terminal.until(/Downloading TensorFlow .* [1-9]\d*\/\d+ MB/);
      terminal.type('\x03');
      await terminal.ended;
    } finally {
      terminal.kill();
    }
    expect(terminal.text()).toMatch(new RegExp(`status ${status}\nthe modes of before\n$`));
    const raw = terminal.raw();
    // The cursor was hidden and lines did not wrap.
    for (const mode of ['?25', '?7']) {
      expect(raw).toContain(`\x1b[${mode}l`);
      expect(raw.lastIndexOf(`\x1b[${mode}h`)).toBeGreaterThan(raw.lastIndexOf(`\x1b[${mode}l`));
    }
    expect(() => process.kill(Number(readFileSync(join(work, 'pip.pid'), 'utf8')), 0)).toThrow(
      'ESRCH',
    );
    const left = readdirSync(work, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /partial|wheel|model\.tar/.test(name))).toEqual([]);
  },
);

test('package without the library fails with the code of the fetch, and names what does without', () => {
  const [node = '', ...args] = commandLine('package', MODEL, '--out', 'model.tar.gz', '--json');
  const env = { ...process.env, ...withoutLibrary('exit 1') };
  const { status, stdout, stderr } = spawnSync(node, args, { cwd: work, env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('trying the model out needs the TensorFlow library');
  expect(stderr).toContain('--no-verify');
  expect(JSON.parse(stdout)).toMatchObject({ code: 'LIBRARY_FETCH_FAILED' });
  expect(existsSync(join(work, 'model.tar.gz'))).toBe(false);
});
