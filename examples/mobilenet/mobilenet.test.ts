/** The commands of README.md as they stand there, as far as they need no network; the answer is compared with Keras'. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from 'sagemaker-tfs/development/serving';

const ROOT = join(__dirname, '..', '..');
const PROGRAM = join(ROOT, 'cli', 'bin', 'sagemaker-tfs.js');
const README = readFileSync(join(__dirname, 'README.md'), 'utf8');

const python = findPython();
const suite = python ? describe : describe.skip;

jest.setTimeout(400_000);

/** A Python with TensorFlow: of `npm run conformance`, or on PATH. */
function findPython(): string | undefined {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const own = join(cache, 'sagemaker-tfs', 'conformance-python', 'bin', 'python');
  return [own, 'python3'].find((program) => {
    if (program.includes('/') && !existsSync(program)) return false;
    try {
      const look = ['-c', 'import importlib.util as u; exit(u.find_spec("tensorflow") is None)'];
      execFileSync(program, look, { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** Words of the README's command that begins like this; no quoting is used there. */
function commandOf(start: string): string[] {
  const blocks = [...README.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const line = blocks.flatMap((block) => block.split('\n')).find((text) => text.startsWith(start));
  if (line === undefined) throw new Error(`README.md has no command ${start}`);
  return line.trim().split(/\s+/);
}

const NAME = python ? 'the README' : 'the README (skipped: no Python with TensorFlow here)';
suite(NAME, () => {
  /** Laid out like the repository; within it, so that the configuration finds the constructs. */
  let work: string;
  beforeAll(() => {
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    work = mkdtempSync(join(ROOT, '.cache', 'mobilenet-test-'));
    const isMade = (path: string) => path.startsWith(join(__dirname, 'build'));
    cpSync(__dirname, join(work, 'examples', 'mobilenet'), {
      recursive: true,
      filter: (path) => !isMade(path),
    });
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  const build = (...path: string[]) => join(work, 'examples', 'mobilenet', 'build', ...path);

  /** Runs a command of the README to its end; what it printed. */
  function run(start: string, more: readonly string[] = []): string {
    const [program = '', ...words] = commandOf(start);
    const [file, args] =
      program === 'python3'
        ? [python as string, [...words, '--weights', 'random']]
        : [process.execPath, [PROGRAM, ...words.slice(1)]];
    return execFileSync(file, [...args, ...more], {
      cwd: work,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  test('the script makes model, names and picture, and says which weights', () => {
    expect(run('python3 ')).toContain('MobileNetV2 with random weights');
    expect(readdirSync(build()).sort()).toEqual(['keras.json', 'labels.txt', 'model', 'samples']);
    expect(readFileSync(build('labels.txt'), 'utf8').trimEnd().split('\n')).toHaveLength(1_000);
  });

  test('package tries it out, and what is served answers as Keras does', async () => {
    const packaged = JSON.parse(run('npx sagemaker-tfs package', ['--json']));
    expect(packaged.bytes).toBeGreaterThan(1_000_000);
    const url = `http://127.0.0.1:${await freePort()}`;
    const [, , ...serve] = commandOf('npx sagemaker-tfs serve');
    const args = [PROGRAM, ...serve, '--port', url.replace(/.*:/, '')];
    const server = spawn(process.execPath, args, {
      cwd: work,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await new Promise<void>((resolve, reject) => {
        let text = '';
        server.once('exit', () => reject(new Error(text)));
        server.stdout.setEncoding('utf8').on('data', (part: string) => {
          text += part;
          if (text.includes('Serving on ')) resolve();
        });
      });
      const { predictions } = JSON.parse(run('npx sagemaker-tfs invoke', ['--url', url]));
      expect(predictions).toHaveLength(1);
      checkAnswer(predictions[0]);
      run('npx sagemaker-tfs bench', ['--url', url, '--requests', '5', '--quiet']);
      expect(readFileSync(build('bench.html'), 'utf8')).toContain('This run on AWS');
    } finally {
      server.removeAllListeners('exit');
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    }
  });

  function checkAnswer(answer: { classes: string[]; scores: number[] }): void {
    const keras = JSON.parse(readFileSync(build('keras.json'), 'utf8')) as {
      probabilities: number[];
    };
    const labels = readFileSync(build('labels.txt'), 'utf8').trimEnd().split('\n');
    expect(answer.classes).toHaveLength(5);
    const likeliest = keras.probabilities.indexOf(Math.max(...keras.probabilities));
    expect(answer.classes[0]).toBe(labels[likeliest]);
    for (const [at, name] of answer.classes.entries()) {
      const expected = keras.probabilities[labels.indexOf(name)] as number;
      expect(Math.abs((answer.scores[at] as number) / expected - 1)).toBeLessThan(0.01);
    }
  }

  test('the app synthesizes: an endpoint of this model, with its smoke test', () => {
    const [, , verb, ...options] = commandOf('npx cdk synth');
    expect([verb, options[0]]).toEqual(['synth', '-c']);
    const config = (options[1] ?? '').replace('config=', '');
    const out = join(work, 'cdk.out');
    execFileSync(process.execPath, [join(ROOT, 'bin', 'app.js')], {
      cwd: work,
      env: { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify({ config }) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const template = readFileSync(join(out, 'mobilenet-mobilenet.template.json'), 'utf8');
    expect(template).toContain('"ml.c6i.large"');
  });
});
