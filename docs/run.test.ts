/**
 * The commands of the documentation, run: as they stand, in a folder that has what the pages say the reader has.
 * docs/not-run.ts lists those that are not run, with the reason. Loads are made smaller, and port 8080 is another one.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from 'sagemaker-tfs/development/serving';
import { untilServing } from 'sagemaker-tfs/stand-ins';
import { NOT_RUN, RUN_ELSEWHERE, reasonNotToRun } from './not-run.ts';
import { EXAMPLES, SHOWING, shellLines } from './shown-commands.ts';

jest.setTimeout(400_000);

const ROOT = join(__dirname, '..');
const PROGRAM = join(ROOT, 'cli', 'bin', 'sagemaker-tfs.js');
const PAGES = [...SHOWING, ...EXAMPLES];
/** Commands that ask a runtime; those of the command line take --url where they name none. */
const ASKS = /sagemaker-tfs (?:invoke|bench) |^curl | \| curl /;
const SIDE = 28;

const isRun = (line: string) => reasonNotToRun(line) === undefined;
const run = PAGES.filter((page) => !(page in RUN_ELSEWHERE) && shellLines(page).some(isRun));

let work: string;
let server: ChildProcess | undefined;
/** What `server` serves: the words after `serve`, and the folder. */
let served = '';
let url = '';
/** Lines that succeeded, with the folder and the model they had: the same again would say nothing new. */
const succeeded = new Set<string>();

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'docs-run-'));
  for (const name of ['node_modules', 'docs', 'test'])
    symlinkSync(join(ROOT, name), join(work, name));
  cpSync(join(ROOT, 'examples'), join(work, 'examples'), { recursive: true });
  const digits = join(ROOT, 'examples', 'digits');
  for (const name of ['my_model', 'my_classifier', 'digits_model', 'berlin']) {
    cpSync(join(digits, 'model'), join(work, name), { recursive: true });
  }
  cpSync(join(ROOT, 'examples', 'tiles', 'model'), join(work, 'tiles_model'), { recursive: true });
  cpSync(join(ROOT, 'examples', 'detection', 'model'), join(work, 'my_detector'), {
    recursive: true,
  });
  const nchw = join(ROOT, 'test', 'fixtures', 'models', 'image_nchw');
  cpSync(nchw, join(work, 'my_pytorch_model'), { recursive: true });
  for (const name of ['images', 'pictures']) {
    mkdirSync(join(work, name));
    for (const file of readdirSync(join(digits, 'samples')).filter((one) =>
      /^0000.*\.jpg$/.test(one),
    )) {
      cpSync(join(digits, 'samples', file), join(work, name, file));
    }
  }
  cpSync(join(digits, 'samples', '00000-7.jpg'), join(work, 'picture.jpg'));
  cpSync(join(digits, 'samples', '00000-7.jpg'), join(work, 'FILE.jpg'));
  const row = Array.from({ length: SIDE }, () => [0]);
  const instances = [Array.from({ length: SIDE }, () => row)];
  writeFileSync(join(work, 'request.json'), JSON.stringify({ instances }));
  writeFileSync(join(work, 'inference.ts'), 'export const outputHandler = () => ({ digit: 7 });\n');
  const models = "{ digits: { model: 'my_model', endpoint: { instanceType: 'ml.c6i.large' } } }";
  writeFileSync(join(work, 'serving.config.ts'), `export default { models: ${models} };\n`);
  for (const folder of ['.zsh/completions', '.config/fish/completions']) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  shell(`node "${PROGRAM}" package my_model --out model.tar.gz --no-verify`);
});
afterAll(async () => {
  await stop();
  rmSync(work, { recursive: true, force: true });
});

async function stop(): Promise<void> {
  if (server && server.exitCode === null) {
    server.kill();
    await once(server, 'exit');
  }
  server = undefined;
}

/** Serves what the words name. */
async function serve(words: string, folder = ''): Promise<void> {
  const wanted = `${folder}: ${words}`;
  if (server?.exitCode === null && served === wanted) return;
  await stop();
  served = wanted;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const command = `exec node "${PROGRAM}" serve ${words} --port ${port}`;
  server = spawn('bash', ['-c', command], { cwd: join(work, folder), stdio: 'ignore' });
  await untilServing(url, server);
}

/** A line as it can be run here. */
function here(line: string): string {
  return line
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('/tmp/', `${work}/`)
    .replace(/\bFILE\b/, 'FILE.jpg')
    .replace(
      /(sagemaker-tfs (?:invoke|bench) (?!.*--(?:url|compare)).*?)(?=$| > )/,
      `$1 --url ${url}`,
    )
    .replace(/--requests \d+/, '--requests 20')
    .replace(/--max-concurrency \d+/, '')
    .replace(/(sagemaker-tfs tune .*)/, '$1 --seconds 1 --max-concurrency 2')
    .replace(/npx sagemaker-tfs/, `node "${PROGRAM}"`)
    .replace(/npx tsx/, 'node --import tsx');
}

function shell(script: string, folder = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `set -o pipefail\ncurl() { command curl --fail-with-body "$@"; }\n${script}`],
    {
      cwd: join(work, folder),
      encoding: 'utf8',
      env: { ...process.env, HOME: work, URL: `${url}/invocations` },
    },
  );
  return { status, output: `${stdout.slice(-2_000)}${stderr.slice(-2_000)}` };
}

/** Runs one line, and expects it to succeed. */
function expectSuccess(line: string, folder: string): void {
  // Several pages make the same project.
  if (/ init /.test(line)) rmSync(join(work, 'digits'), { recursive: true, force: true });
  const { status, output } = shell(here(line), folder);
  expect({ line, status, output: status === 0 ? '' : output }).toEqual({
    line,
    status: 0,
    output: '',
  });
}

test.each(run)('the commands of %s succeed', async (page) => {
  let folder = '';
  let words = 'model.tar.gz';
  for (const line of shellLines(page).filter(isRun)) {
    folder = /^cd (examples\/\S+)$/.exec(line)?.[1] ?? folder;
    if (/^\w+=\S+$|^cd examples\//.test(line)) continue;
    const serves = /^npx sagemaker-tfs serve (.*)$/.exec(line)?.[1];
    words = serves ?? words;
    const asks = ASKS.test(line);
    const known = JSON.stringify([folder, line, asks ? words : '']);
    if (succeeded.has(known)) continue;
    if (asks || serves !== undefined) await serve(words, folder);
    if (serves === undefined) expectSuccess(line, folder);
    succeeded.add(known);
  }
});

test('every reason not to run a command is of one that is shown, and the other tests exist', () => {
  const lines = PAGES.flatMap(shellLines);
  const unused = NOT_RUN.filter(([pattern]) => !lines.some((line) => pattern.test(line)));
  expect(unused.map(([pattern]) => String(pattern))).toEqual([]);
  expect(Object.values(RUN_ELSEWHERE).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  expect(Object.keys(RUN_ELSEWHERE).filter((page) => !PAGES.includes(page))).toEqual([]);
  const commands = lines.filter(isRun).length;
  expect(commands).toBeGreaterThan(60);
});
