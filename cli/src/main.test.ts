/** The command line as its users run it: arguments, exit status, what goes to stdout and what to stderr. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { program as commandLine } from './main.ts';
import { freePort } from './serving/free-port.ts';
import { untilServing } from './testing/until-serving.ts';
import { EXAMPLES } from './verbs/examples.ts';

const root = join(__dirname, '..', '..');
const digits = join(root, 'examples', 'digits');
const program = join(root, 'cli/bin/sagemaker-tfs.js');
const sample = join(digits, 'samples', readdirSync(join(digits, 'samples'))[0] as string);

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'cli-test-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  args: readonly string[],
  environment = {},
  cwd = process.cwd(),
): { child: ChildProcess; outcome: Promise<Outcome> } {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, TMPDIR: work, ...environment },
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      text[name] += part;
    });
  }
  const outcome = once(child, 'close').then(([status]) => ({ status: Number(status), ...text }));
  return { child, outcome };
}

const run = (...args: string[]) => start(args).outcome;

/** Serves a model until `use` is done. */
async function serving(
  args: readonly string[],
  use: (url: string) => Promise<void>,
): Promise<Outcome> {
  const port = await freePort();
  const { child, outcome } = start(['serve', ...args, '--port', String(port)]);
  const url = `http://127.0.0.1:${port}`;
  await untilServing(url, child);
  try {
    if (child.exitCode === null) await use(url);
  } finally {
    // One Ctrl-C, as it arrives under npx: from the terminal, and handed on by npm.
    child.kill('SIGINT');
    await sleep(50);
    child.kill('SIGINT');
  }
  return outcome;
}

describe('wrong usage: status 2 and advice on stderr', () => {
  test.each([
    ['an unknown verb', ['bake'], "no verb 'bake'. sagemaker-tfs has: init, inspect"],
    ['an unknown verb below a verb', ['batch', 'bake'], 'sagemaker-tfs batch has: local, pack'],
    [
      'an unknown option',
      ['inspect', 'x', '--verbose'],
      'inspect takes: --examples, --variables, --ops',
    ],
    ['a missing argument', ['inspect'], 'Usage: sagemaker-tfs inspect [options] <source>'],
    ['an argument too many', ['inspect', 'a', 'b'], 'Usage: sagemaker-tfs inspect [options]'],
    ['no target to package to', ['package', digits], '--out FILE'],
    ['a port that is none', ['serve', digits, '--port', 'http'], 'whole number'],
    ['a port beyond all', ['serve', digits, '--port', '70000'], 'from 1 to 65535'],
    ['a number of an unset variable', ['bench', 'x', '--requests', ''], 'nothing is not a whole'],
    [
      'a percentage above 100',
      ['batch', 'local', 'x', '--out', 'y', '--max-failure-percent', '200'],
      'from 0 to 100',
    ],
    ['a gzip level beyond all', ['package', digits, '--level', '12'], 'from 0 to 9'],
    ['an address that is none', ['invoke', 'a.jpg', '--url', 'here'], 'such as http://127.0.0.1'],
    ['a region that is none', ['batch', 'stop', 'j', '--region', 'moon'], 'such as eu-central-1'],
    ['a share that is none', ['estimate', '--images', '1', '--endpoint-use', '7'], 'up to 1'],
    [
      'an S3 URI that is none',
      ['batch', 'verify', '--input-uri', 'in', '--output-uri', 's3://b/out/'],
      'such as s3://bucket/folder/',
    ],
    [
      'a bucket whose name is too short',
      ['batch', 'start', '--input-uri', 's3://b/in/'],
      "3 to 63 characters, and 'b' has 1",
    ],
    [
      'a bucket whose name is too long',
      ['batch', 'start', '--input-uri', `s3://${'b'.repeat(64)}/in/`],
      'has 64',
    ],
    [
      'a bucket that S3 does not allow',
      ['batch', 'start', '--input-uri', 's3://My_Bucket/in/'],
      "'My_Bucket' is not",
    ],
    [
      'a source in a bucket whose name is too short',
      ['inspect', 's3://a'],
      "3 to 63 characters, and 'a' has 1",
    ],
    ['a source without a bucket', ['package', 's3:///model', '--out', 'x'], 'names no bucket'],
    ['a model in such a bucket', ['init', 'x', '--model', 's3://ab/m'], "and 'ab' has 2"],
    ['captures in such a bucket', ['captures', 'drift', 's3://a/', '--baseline', 'x'], 'has 1'],
    ['an S3 URI without a bucket', ['batch', 'start', '--input-uri', 's3:///in'], 'no bucket'],
    [
      'an instance type that is none',
      ['estimate', '--images', '1', '--instance-type', 'large'],
      'such as ml.g4dn.xlarge',
    ],
    ['an unknown backend', ['serve', digits, '--backend', 'soap'], 'grpc, rest, in-process'],
    [
      'JSON that the shell has unquoted',
      ['package', digits, '--out', 'x', '--preprocess', '{scale: 2}'],
      `Write JSON in single quotes, '{"key": "value"}', or in a file, @file.json.`,
    ],
    ['an output without a name', ['package', digits, '--out', ''], 'output is empty'],
    [
      'a sample, and nothing to try it',
      ['package', digits, '--out', 'x', '--sample', 'y.json', '--no-verify'],
      'Remove one',
    ],
    [
      'a gzip level without an archive',
      ['package', digits, '--uncompressed', 'x', '--level', '1'],
      'Add --out',
    ],
    [
      'ports of an image that is none',
      ['package', digits, '--out', 'x', '--expose-model-server'],
      'Give it with --baked-image',
    ],
    ['a source without a name', ['inspect', ''], 'the name of the source is empty'],
    ['help for no verb', ['help', 'bake'], "there is no verb 'bake'"],
    ['help for no verb below a verb', ['help', 'batch', 'bake'], "there is no verb 'bake'"],
    ['--help of no verb', ['bake', '--help'], "there is no verb 'bake'"],
    ['--help of no verb below a verb', ['batch', 'bake', '-h'], "there is no verb 'bake'"],
    ['help for no verb, asked of a verb', ['batch', 'help', 'bake'], "there is no verb 'bake'"],
    ['a body of unknown type', ['invoke', 'body.bin'], 'Known are jpg, jpeg, png,'],
    ['standard input of unknown type', ['invoke', '-'], '--content-type'],
    ['help for what may be a verb', ['help', 'serv'], '(Did you mean serve?)'],
    ['completion for another shell', ['completion', 'tcsh'], 'Name one of: bash, zsh, fish'],
    ['a missing source', ['inspect', '/nowhere/model'], '/nowhere/model does not exist'],
  ])('%s', async (_name, args, advice) => {
    const { status, stdout, stderr } = await run(...args);
    expect(stderr).toContain(advice);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });
});

test('every verb has examples in its help, and they name options that it has', () => {
  const verbs = (command: Command): Command[] =>
    command.commands.length > 0 ? command.commands.flatMap(verbs) : [command];
  const pathOf = (command: Command): string =>
    command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
  for (const verb of verbs(commandLine())) {
    const path = pathOf(verb);
    const examples = EXAMPLES[path] ?? [];
    expect([path, examples.length]).not.toEqual([path, 0]);
    const known = verb.options.map(({ long }) => long);
    for (const example of examples) {
      expect(example.startsWith(path)).toBe(true);
      for (const option of example.match(/--[a-z-]+/g) ?? []) expect(known).toContain(option);
    }
  }
});

test('help shows the help of a verb, below a verb too', async () => {
  const { status, stdout } = await run('help', 'batch', 'local');
  expect(status).toBe(0);
  expect(stdout).toBe((await run('batch', 'local', '--help')).stdout);
});

test('--help ends with the examples', async () => {
  const { status, stdout } = await run('batch', 'local', '--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}\$ npx sagemaker-tfs batch local images\//);
});

test('--quiet leaves progress and remarks away, behind the verb or before it', async () => {
  const folder = join(work, 'quiet');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.png'), 'a');
  for (const args of [
    ['batch', 'pack', folder, '--out', join(work, 'quiet-1'), '--quiet'],
    ['-q', 'batch', 'pack', folder, '--out', join(work, 'quiet-2')],
  ]) {
    expect(await run(...args)).toMatchObject({ status: 0, stderr: '' });
  }
});

test.each([
  ['local', [join(digits, 'samples'), '--url', 'http://127.0.0.1:9', '--out', 'none']],
  [
    'start',
    ['--model-name', 'm', '--input-uri', 's3://bucket/in/', '--output-uri', 's3://bucket/out/'],
  ],
])('batch %s cuts no CSV whose first line is a header', async (verb, args) => {
  const header = ['--split-type', 'Line', '--content-type', 'text/csv; header=present'];
  const { status, stderr } = await run('batch', verb, ...args, ...header);
  expect(status).toBe(2);
  expect(stderr).toContain("'Line' leaves the header in the first request of a file");
});

test('batch local takes the type of its inputs from their names, or asks', async () => {
  const mixed = join(work, 'mixed');
  mkdirSync(mixed);
  const job = ['batch', 'local', mixed, '--url', 'http://127.0.0.1:9', '--out', join(work, 'none')];
  writeFileSync(join(mixed, 'a.csv'), '1');
  writeFileSync(join(mixed, 'b.json'), '1');
  const two = await run(...job);
  expect(two.status).toBe(2);
  expect(two.stderr).toContain('a.csv is text/csv and b.json is application/json');
  for (const name of ['b.bin', 'c.svg']) writeFileSync(join(mixed, name), '1');
  rmSync(join(mixed, 'b.json'));
  const unknown = await run(...job);
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toMatch(
    /unknown ending: (b\.bin, c\.svg|c\.svg, b\.bin)\. Take them out of the inputs/,
  );
});

test('invoke says what a folder and a model are, which are no requests', async () => {
  const request = join(work, 'net.keras');
  writeFileSync(request, '1');
  for (const [file, what] of [
    [work, 'is a folder. Name a file of it'],
    [request, 'is a model, not a request'],
  ] as const) {
    const { status, stderr } = await run('invoke', file, '--url', 'http://127.0.0.1:9');
    expect(status).toBe(2);
    expect(stderr).toContain(what);
  }
});

test.each([
  ['TFRecord', 'tfrecord'],
  ['RecordIO', 'recordio'],
])('batch local asks for the type of %s records without their framing', async (split, ending) => {
  const shards = join(work, `shards-${ending}`);
  mkdirSync(shards);
  writeFileSync(join(shards, `0.${ending}`), '');
  const cut = ['--split-type', split, '--batch-strategy'];
  const job = ['batch', 'local', shards, '--url', 'http://127.0.0.1:9'];
  const bare = await run(...job, '--out', join(work, 'none'), ...cut, 'SingleRecord');
  expect(bare.status).toBe(2);
  expect(bare.stderr).toContain('sends each record without its framing');
  expect(bare.stderr).toContain('--content-type');
});

test('estimate says where the speed is of another machine than is priced', async () => {
  const measured = join(work, 'measured.json');
  const args = ['estimate', '--images', '1000', '--measured', measured];
  args.push('--instance-type', 'ml.g4dn.xlarge');
  writeFileSync(measured, JSON.stringify({ done: 100, seconds: 10 }));
  expect((await run(...args)).stdout).toContain('The speed is that of the machine that measured');
  const knee = { imagesPerSecond: 10, where: 'ml.g4dn.xlarge' };
  writeFileSync(measured, JSON.stringify({ knee }));
  expect((await run(...args)).stdout).not.toContain('The speed is');
});

test.each([
  ['package --out x --preprocess {"scal":1} MODEL', 'scal'],
  ['package --out x --preprocess @no.json MODEL', 'no.json does not exist. Check the name.'],
  ['package notmodel --out x', 'holds no SavedModel'],
  ['serve notmodel --port 8099', 'holds no SavedModel'],
  ['init new --model notmodel', 'holds no SavedModel'],
  ['init notmodel', 'holds a.txt. Give an empty or a new directory.'],
  ['verify notmodel/a.txt', 'a.txt is a file of unknown kind. Give a model.tar.gz.'],
  ['batch local empty --out o --model MODEL', ': empty holds no files. Name a folder with inputs'],
  ['batch local no --out o --model MODEL', 'the input folder no does not exist. Check the name.'],
  ['batch local notmodel/a.txt --out o --model MODEL', 'notmodel/a.txt is a file, and the input'],
  ['package MODEL --out x --handler no.ts', 'no.ts does not exist. Check the name.'],
  [
    'package MODEL --out x --postprocess {"topK":{"k":1,"labels":"no.txt"}}',
    'no.txt does not exist.',
  ],
  ['invoke no.json', 'no.json does not exist. Check the name.'],
  ['bench --compare no other', 'no does not exist. Check the name.'],
])('%s: status 2, and what is wrong in words', async (line, advice) => {
  const cwd = mkdtempSync(join(work, 'wrong-'));
  mkdirSync(join(cwd, 'empty'));
  mkdirSync(join(cwd, 'notmodel'));
  writeFileSync(join(cwd, 'notmodel/a.txt'), 'text');
  const words = line.split(' ').map((word) => (word === 'MODEL' ? join(digits, 'model') : word));
  const { status, stderr } = await start(words, {}, cwd).outcome;
  expect([status, stderr]).toEqual([2, expect.stringContaining(advice)]);
  expect(stderr).not.toMatch(/ENOENT|file:/);
  expect(existsSync(join(cwd, 'new'))).toBe(false);
});

test("a folder that is no model's is named as it was given", async () => {
  const folder = join(work, 'unversioned');
  cpSync(join(digits, 'model/1'), folder, { recursive: true });
  const { status, stderr } = await run('verify', folder);
  expect(status).toBe(1);
  expect(stderr).toContain(`says: ${folder} holds a SavedModel`);
  expect(stderr).toContain(`Move it to ${folder}/1.`);
});

test('an output that cannot be written is named as it was given', async () => {
  const out = join(work, `${'x'.repeat(246)}.tar.gz`);
  const { status, stderr } = await run('package', join(digits, 'model'), '--out', out);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${out} cannot be written: ENAME`)]);
  expect(stderr).not.toContain('.partial');
});

test('a wrong declaration is explained in words, once', async () => {
  const { status, stderr } = await run(
    ...['package', join(digits, 'model'), '--preprocess', '{"resize": "no"}'],
    ...['--out', join(work, 'never.tar.gz')],
  );
  expect(status).toBe(2);
  expect(stderr.split('preprocess.resize')).toHaveLength(2);
  expect(stderr).not.toContain('because');
});

test('inspect --json is one document on stdout', async () => {
  const { status, stdout } = await run('inspect', join(digits, 'model'), '--json');
  expect(status).toBe(0);
  const [model] = JSON.parse(stdout).models;
  expect(Object.keys(model.versions[0].metaGraphs[0].signatures)).toEqual(['serving_default']);
});

test('package tries the archive out with the handler before it calls it done', async () => {
  const out = join(work, 'model.tar.gz');
  const { status, stdout, stderr } = await run(
    ...['package', join(digits, 'model'), '--handler', join(digits, 'inference.ts')],
    ...['--out', out, '--sample', sample, '--json'],
  );
  expect(stderr).not.toContain('sagemaker-tfs:');
  expect(status).toBe(0);
  const { verification } = JSON.parse(stdout);
  expect(verification.requests[0]).toMatchObject({ status: 200, responseType: 'application/json' });
});

test.each([
  ['--uncompressed', []],
  ['--baked-image', ['--base-image', 'serving']],
])(
  'package %s tries the model out too, and leaves nothing that a sample fails',
  async (form, more) => {
    const out = join(work, form);
    const wrong = join(work, `${form}.json`);
    writeFileSync(wrong, '{"instances": ["none"]}');
    const words = ['package', join(digits, 'model'), form, out, ...more, '--json'];
    const failed = await run(...words, '--sample', wrong);
    expect(failed).toMatchObject({ status: 1, stdout: expect.stringContaining(wrong) });
    expect(readdirSync(work).filter((name) => name.startsWith(form))).toEqual([`${form}.json`]);
    const { status, stdout } = await run(...words, '--sample', sample);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).verification.requests).toMatchObject([{ status: 200 }]);
    const untried = await run(...words.slice(0, 3), `${out}-2`, ...words.slice(4), '--no-verify');
    expect(untried.status).toBe(0);
    expect(JSON.parse(untried.stdout).verification).toBeUndefined();
  },
);

test('package with batching on names the signatures whose requests are not joined', async () => {
  const source = fixtureModel('multi_signature').basePath;
  const args = ['package', source, '--out', join(work, 'batched.tar.gz')];
  const { stdout } = await start(args, { SAGEMAKER_TFS_ENABLE_BATCHING: 'true' }).outcome;
  expect(stdout).toContain('statistics: cannot be batched: output "count" is a scalar.');
});

test('package leaves no archive that did not pass its verification', async () => {
  const out = join(work, 'broken.tar.gz');
  const { status, stderr } = await run(
    ...['package', fixtureModel('broken_variables').basePath, '--out', out],
  );
  expect(status).toBe(1);
  expect(stderr).toContain('Could not find variable');
  expect(stderr).not.toContain('.partial');
  expect(existsSync(out)).toBe(false);
  writeFileSync(out, 'an archive that works');
  const again = await run('package', fixtureModel('broken_variables').basePath, '--out', out);
  expect(again.status).toBe(1);
  expect(readFileSync(out, 'utf8')).toBe('an archive that works');
});

test('serve and invoke: one picture through model and handler', async () => {
  const args = [join(digits, 'model'), '--handler', join(digits, 'inference.ts')];
  const served = await serving(args, async (url) => {
    const { status, stdout } = await run('invoke', sample, '--url', url);
    expect(status).toBe(0);
    const label = Number(/-(\d)\./.exec(sample)?.[1]);
    expect(JSON.parse(stdout).predictions[0].digit).toBe(label);
    const requests = [
      '--requests',
      '6',
      '--in-flight',
      '2',
      '--transport',
      'rest',
      'grpc',
      '--json',
    ];
    const measured = JSON.parse((await run('bench', sample, '--url', url, ...requests)).stdout);
    expect(measured).toMatchObject({
      results: [
        {
          transport: 'rest',
          latency: { count: 6 },
          responseBytes: Buffer.byteLength(stdout.trimEnd()),
        },
        { transport: 'grpc', latency: { count: 6 } },
      ],
    });
  });
  expect(served.status).toBe(0);
  expect(served.stdout).toContain('serving_default');
  expect(readdirSync(work).filter((name) => name.startsWith('sagemaker-tfs-'))).toEqual([]);
});

test("serve ends with 1 and TensorFlow's own message where a model cannot load", async () => {
  const served = await serving([fixtureModel('custom_op').basePath], async () => undefined);
  expect(served.status).toBe(1);
  expect(served.stderr).toContain("Op type not registered 'ExampleCustomOp'");
});

test('serve ends, and cleans up, when what npx started it with is killed', async () => {
  const port = String(await freePort());
  const command = [process.execPath, program, 'serve', join(digits, 'model'), '--port', port];
  // npx puts a shell between, which does not hand SIGTERM on.
  const shell = spawn('/bin/sh', ['-c', '"$@"; exit', 'sh', ...command], {
    env: { ...process.env, TMPDIR: work, npm_lifecycle_event: 'npx' },
  });
  shell.stdout.resume();
  shell.stderr.resume();
  const closed = once(shell, 'close');
  const isHealthy = () =>
    fetch(`http://127.0.0.1:${port}/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) await sleep(100);
  shell.kill('SIGTERM');
  // The server holds the other ends of the pipes until it ends.
  await closed;
  expect(await isHealthy()).toBe(false);
  expect(readdirSync(work).filter((name) => name.startsWith('sagemaker-tfs-'))).toEqual([]);
});

test('serve names --port where another program has the port', async () => {
  const other = createServer().listen(0);
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { status, stdout, stderr } = await run('serve', digits, '--port', String(port));
  other.close();
  expect(stderr).toContain(`port ${port} is in use by another program. End it, or choose another`);
  expect(stderr).toContain('--port');
  expect(stdout).toBe('');
  expect(status).toBe(1);
});

test.each([
  ['invoke', [sample]],
  ['bench', [sample]],
  ['tune', [sample]],
  ['batch local', [dirname(sample), '--out', join(tmpdir(), 'nothing-answers')]],
])('%s says at once what to start where nothing listens, and nothing twice', async (verb, args) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { status, stderr } = await run(...verb.split(' '), ...args, '--url', url);
  expect(stderr).toMatch(/nothing answers at .* sagemaker-tfs serve DIR\n$/);
  expect(stderr).not.toContain('because');
  expect(status).toBe(1);
});

test('a reader that stops ends the command quietly', async () => {
  const command = `"${process.execPath}" "${program}" inspect "${join(digits, 'model')}" | head -n 1`;
  const child = spawn('/bin/bash', ['-c', `set -o pipefail; for i in 1 2 3; do ${command}; done`]);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
  });
  child.stdout.resume();
  await once(child, 'close');
  expect(stderr).not.toContain('EPIPE');
});

test('doctor tells a container builder that is not there from one that does not run', async () => {
  const builder = join(work, 'docker');
  const ask = async () => {
    const { child, outcome } = start(['doctor', '--json'], { CDK_DOCKER: builder });
    child.stdin?.end();
    const findings = JSON.parse((await outcome).stdout) as { what: string; detail: string }[];
    return findings.find(({ what }) => what === 'container builder')?.detail;
  };
  expect(await ask()).toContain(`no ${builder} here`);
  writeFileSync(builder, '#!/bin/sh\n[ "$1" = --version ] && echo Docker 1 || exit 1\n', {
    mode: 0o755,
  });
  expect(await ask()).toContain('is installed, but its daemon does not answer');
});

test('an archive without anything to try is not called packaged', async () => {
  const out = join(work, 'sparse.tar.gz');
  const source = fixtureModel('sparse_input').basePath;
  const { status, stderr } = await run('package', source, '--out', out);
  expect(status).toBe(1);
  expect(stderr).toContain('--sample FILE');
  expect(existsSync(out)).toBe(false);
  const unverified = await run('package', source, '--out', out, '--no-verify');
  expect(unverified.stdout).toContain('not verified');
  expect(unverified.status).toBe(0);
});

test.each([
  ['s.jpg', 'has the ending .jpg, which', '.npz, .json, .npy'],
  ['sample', 'has no ending, which', '.npz, .json, .npy'],
])(
  'inspect --write-sample %s is refused with the endings that there are',
  async (name, fault, allowed) => {
    const model = fixtureModel('half_plus_two').basePath;
    const { status, stderr } = await run('inspect', model, '--write-sample', join(work, name));
    expect(status).toBe(2);
    expect(stderr).toContain(fault);
    expect(stderr).toContain(`ends in one of ${allowed}.`);
    expect(existsSync(join(work, name))).toBe(false);
  },
);

test('inspect --openapi prints one document, and nothing beside it', async () => {
  const model = fixtureModel('half_plus_two').basePath;
  const { status, stdout } = await run('inspect', model, '--openapi');
  const info = { title: 'half_plus_two' };
  expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, openapi: '3.1.0', info });
  const mixed = await run('inspect', model, '--openapi', '--ops');
  expect(mixed.status).toBe(2);
  expect(mixed.stderr).toContain('--openapi prints one document');
});

test('a sample is sent with the type, the accepted type and the attributes that it declares', async () => {
  const model = fixtureModel('half_plus_two').basePath;
  const file = join(work, 'request.bin');
  writeFileSync(file, JSON.stringify({ instances: [[1], [2]] }));
  const packageWith = (sample: object) =>
    run(
      'package',
      model,
      '--out',
      join(work, 's.tar.gz'),
      '--json',
      '--sample',
      JSON.stringify(sample),
    );
  const json = { file, contentType: 'application/json' };
  const { status, stdout } = await packageWith({ ...json, accept: 'application/x-npy' });
  expect(status).toBe(0);
  expect(JSON.parse(stdout).verification.requests).toMatchObject([
    { contentType: 'application/json', status: 200, responseType: 'application/x-npy' },
  ]);
  const refused = await packageWith({ file, contentType: 'application/x-own' });
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(/request\.bin \(application\/x-own\) with status 415/);
  const unnamed = await packageWith({ ...json, customAttributes: 'tfs-signature=none' });
  expect(unnamed.stderr).toContain('with status 400');
});

test.each([
  ['{"file":"a","contenttype":"text/csv"}', "did you mean 'contentType'?"],
  ['{"contentType":"text/csv"}', 'file: '],
  ['{a.json', 'give ./{a.json'],
])('--sample %s is wrong usage', async (value, message) => {
  const { status, stderr } = await run('verify', 'model.tar.gz', '--sample', value);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});

test('doctor tells what is here', async () => {
  const { stdout } = await run('doctor', '--json');
  const findings: { what: string; ok: boolean }[] = JSON.parse(stdout);
  expect(findings.find(({ what }) => what === 'TensorFlow library')).toMatchObject({ ok: true });
});

describe('names from a model in a pipe', () => {
  // As long as `serving_default`, so that the file stays whole.
  const EVIL = '\x1b[2J\x1b]0;ow\x07\r\u009b1';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not come through
  const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;
  let model: string;

  beforeAll(() => {
    model = join(work, 'evil', '1');
    cpSync(fixtureModel('half_plus_two').directory, model, { recursive: true });
    const file = join(model, 'saved_model.pb');
    const text = readFileSync(file, 'latin1');
    const evil = Buffer.from(EVIL).toString('latin1');
    expect(evil).toHaveLength('serving_default'.length);
    writeFileSync(file, text.replaceAll('serving_default', evil), 'latin1');
  });

  test.each([
    ['inspect'],
    ['inspect', '--ops', '--variables', '--examples'],
    ['inspect', '--json'],
    ['package', '--no-verify'],
  ])('%s %s: none moves the cursor', async (verb, ...options) => {
    const out = verb === 'package' ? ['--out', join(work, 'evil.tar.gz')] : [];
    const { stdout, stderr } = await run(verb, join(model, '..'), ...options, ...out);
    expect(stdout + stderr).not.toMatch(CONTROL);
    if (verb === 'inspect') expect(stdout).toContain('\\u001b[2J');
    if (options.includes('--json') && verb === 'inspect')
      expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(EVIL).slice(1, -1));
  });
});
