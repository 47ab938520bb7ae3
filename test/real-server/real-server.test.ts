/** How `npm run with-real-server` gets its server, and what it reports. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareServer } from '../../bench/lib/real-server.ts';
import { allPassed, reportText } from './report.ts';

const SERVER = '#!/bin/sh\necho "TensorFlow ModelServer: 2.20.0"\necho "flags: $*"\n';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'real-server-test-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function program(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  await chmod(file, 0o755);
  return file;
}

/** A `docker` whose only image holds the server, and some of what is left out. */
async function fakeDocker(): Promise<string> {
  const root = join(directory, 'root');
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await mkdir(join(root, 'usr/share/doc'), { recursive: true });
  await writeFile(join(root, 'usr/bin/tensorflow_model_server'), SERVER);
  return program(
    'docker',
    `#!/bin/sh
echo "$*" >>'${directory}/calls'
case "$1" in
  create) echo container-1 ;;
  export) tar -c -C '${root}' usr ;;
  image) echo sha256:1234 ;;
esac
`,
  );
}

test("a binary's path or its directory is put on PATH under the program's name", async () => {
  const file = await program('tensorflow_model_server', SERVER);
  for (const binary of [file, directory]) {
    const server = await prepareServer({ binary });
    try {
      expect(server.version).toBe('TensorFlow ModelServer: 2.20.0\nflags: --version');
      expect(server.from).toBe(file);
      const started = execFileSync(join(server.bin, 'tensorflow_model_server'), ["--a=b c'd"]);
      expect(String(started)).toContain("flags: --a=b c'd");
    } finally {
      await server.remove();
    }
  }
});

test("an image is unpacked, and its program runs as a process of this machine's", async () => {
  const engines = [join(directory, 'none'), await fakeDocker()];
  const server = await prepareServer({ image: 'tensorflow/serving:2.20.0' }, engines);
  try {
    expect(server.version).toContain('2.20.0');
    expect(server.from).toBe('tensorflow/serving:2.20.0 sha256:1234');
    const image = join(server.bin, '..', 'image');
    expect(await readdir(join(image, 'usr'))).toEqual(['bin']);
  } finally {
    await server.remove();
  }
  expect(String(execFileSync('cat', [join(directory, 'calls')]))).toContain('rm container-1');
});

test('what is no model server is refused, with nothing left behind', async () => {
  await expect(prepareServer({ binary: directory })).rejects.toThrow('tensorflow_model_server');
  const file = await program('tensorflow_model_server', '#!/bin/sh\nexit 1\n');
  await expect(prepareServer({ binary: file })).rejects.toThrow('--version');
});

test('the report names the server, every file, and what failed', () => {
  const file = (name: string, status: string, failureMessages: string[]) => ({
    name: join(process.cwd(), name),
    message: '',
    status,
    assertionResults: [{ fullName: `does ${name}`, status, failureMessages }],
  });
  const tests = {
    numPassedTests: 1,
    numFailedTests: 1,
    numPendingTests: 0,
    testResults: [
      file('b.test.ts', 'failed', ['\u001b[31mexpected 1\u001b[0m\n```']),
      file('a.test.ts', 'passed', []),
    ],
  };
  const server = { from: '/bin/tfs', sha256: 'ab', version: 'one\ntwo' };
  const text = reportText({
    server,
    machine: ['machine: x'],
    tests,
    stubs: undefined,
    benchmarks: 'fast\n',
  });
  expect(text).toContain('- `--version`: one; two\n- machine: x');
  expect(text).toContain('| a.test.ts | 1 of 1 |\n| b.test.ts | 0 of 1, **failed** |');
  expect(text).toContain("- does b.test.ts\n\n```\nexpected 1\n'''\n```");
  expect(text).toContain('## Benchmarks\n\n```\nfast\n```');
  expect(allPassed(tests)).toBe(false);
  expect(allPassed(undefined)).toBe(false);
  const stubs = { isRight: true, text: '600 of 600 agree' };
  const other = reportText({ server, machine: [], tests: undefined, stubs, benchmarks: undefined });
  expect(other).toContain('They did not run to their end.');
  expect(other).toContain("## Google's stubs\n\n```\n600 of 600 agree\n```");
});
