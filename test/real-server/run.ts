/**
 * `npm run with-real-server -- --image IMAGE | --binary PATH`: the runtime's tests, the goldens among them, and some
 * benchmarks in front of a real `tensorflow_model_server`, and a report to paste. docs/real-server.md has more.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { prepareServer, type RealServer, type ServerSource } from '../../bench/lib/real-server.ts';
import { BENCHES } from '../../bench/questions.ts';
import { allPassed, reportText, type TestResults } from './report.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Tests that talk to the server, all others of the runtime, and those that show that the local model server is like it. */
const TESTS = [
  'container/src',
  'test/load',
  'local-model-server/src/odd-calls',
  'local-model-server/src/server.test',
  'local-model-server/src/rest/server.test',
  'local-model-server/src/grpc/prediction-service',
].join(',');
/** Benchmarks with a real model behind the runtime. */
const BENCHMARKS = 'real-models,many-images,batching,in-flight,full-load';
const OUT = 'real-server-report.md';

const USAGE = `usage: npm run with-real-server -- --image IMAGE | --binary PATH [options]

  --image       an image that docker or podman has or gets, such as tensorflow/serving:2.20.0
  --binary      a tensorflow_model_server, or the directory that holds it
  --tests       of these paths alone, separated by commas (default: ${TESTS})
  --no-stubs    leave out the calls by Google's Python stubs, which install TensorFlow for Python once
  --benchmarks  names as npm run bench takes them, or none (default: ${BENCHMARKS})
  --quick       short benchmarks
  --out         file of the report (default: ${OUT})
`;

interface Arguments {
  readonly source: ServerSource;
  readonly tests: readonly string[];
  readonly stubs: boolean;
  readonly benchmarks: readonly string[];
  readonly quick: boolean;
  readonly out: string;
}

function readArguments(): Arguments | undefined {
  const { values } = parseArgs({
    options: {
      image: { type: 'string' },
      binary: { type: 'string' },
      tests: { type: 'string', default: TESTS },
      benchmarks: { type: 'string', default: BENCHMARKS },
      'no-stubs': { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      out: { type: 'string', default: OUT },
      help: { type: 'boolean', default: false },
    },
  });
  const { image, binary, tests, quick, out, help } = values;
  const benchmarks = values.benchmarks === 'none' ? [] : values.benchmarks.split(',');
  const known = benchmarks.every((wanted) => BENCHES.some(({ name }) => name === wanted));
  if (help || !known || (image === undefined) === (binary === undefined)) return undefined;
  const source = image === undefined ? { binary: binary as string } : { image };
  const stubs = !values['no-stubs'];
  return { source, tests: tests.split(','), stubs, benchmarks, quick, out };
}

async function main(): Promise<void> {
  const wanted = readArguments();
  if (!wanted) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const server = await prepareServer(wanted.source);
  try {
    process.stderr.write(`${server.from}\n${server.version}\n`);
    const tests = await runTests(server, wanted.tests);
    const stubs = wanted.stubs ? await runStubs(server) : undefined;
    const benchmarks = await runBenchmarks(server, wanted);
    const machine = await machineLines();
    const text = reportText({ server, machine, tests, stubs, benchmarks });
    await writeFile(wanted.out, text);
    process.stderr.write(`\nThe report is in ${wanted.out}.\n`);
    if (!allPassed(tests) || stubs?.isRight === false) process.exitCode = 1;
  } finally {
    await server.remove();
  }
}

/** What children find: the server first on PATH, and where tests look for it. */
function environmentOf({ bin }: RealServer): NodeJS.ProcessEnv {
  return { PATH: `${bin}${delimiter}${process.env.PATH}`, TEST_MODEL_SERVER_BIN: bin };
}

async function runTests(
  server: RealServer,
  paths: readonly string[],
): Promise<TestResults | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'with-real-server-'));
  const json = join(directory, 'results.json');
  try {
    await execa(
      process.execPath,
      [
        join(ROOT, 'node_modules/jest/bin/jest.js'),
        '--ci',
        '--json',
        `--outputFile=${json}`,
        ...paths,
      ],
      {
        cwd: ROOT,
        env: environmentOf(server),
        stdio: ['ignore', 'ignore', 'inherit'],
        reject: false,
      },
    );
    return existsSync(json) ? JSON.parse(await readFile(json, 'utf8')) : undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The calls of `conformance/oracle/grpc_calls.py`. */
async function runStubs(server: RealServer) {
  const conformance = ['tsx', join(ROOT, 'conformance/run.ts'), '--only', 'grpc_calls'];
  const { exitCode, stdout } = await execa('npx', conformance, {
    cwd: ROOT,
    env: environmentOf(server),
    stdio: ['ignore', 'pipe', 'inherit'],
    reject: false,
  });
  process.stderr.write(`${stdout}\n`);
  return { isRight: exitCode === 0, text: stdout };
}

/** @returns what they print */
async function runBenchmarks(
  server: RealServer,
  { benchmarks, quick }: Arguments,
): Promise<string | undefined> {
  if (benchmarks.length === 0) return undefined;
  const bench = [
    join(ROOT, 'bench/run.ts'),
    '--only',
    benchmarks.join(','),
    '--model-server',
    server.bin,
  ];
  const { stderr } = await execa('npx', ['tsx', ...bench, ...(quick ? ['--quick'] : [])], {
    cwd: ROOT,
    env: environmentOf(server),
    stdin: 'ignore',
    stderr: ['pipe', 'inherit'],
    reject: false,
  });
  return String(stderr);
}

async function machineLines(): Promise<string[]> {
  const processors = cpus();
  const { stdout: commit } = await execa('git', ['rev-parse', 'HEAD'], {
    cwd: ROOT,
    reject: false,
  });
  return [
    `machine: ${processors[0]?.model ?? 'unknown'}, ${processors.length} CPUs, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`,
    `commit: ${String(commit)}, ${new Date().toISOString().slice(0, 10)}`,
  ];
}

// Jest and the benchmarks end by the same Ctrl-C, being of this process group.
process.once('SIGTERM', () => process.exit(143));
void main();
