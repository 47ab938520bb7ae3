/** Every verb that needs no AWS account, as installed. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program, tableOf } from 'sagemaker-tfs/development/command';
import { type Project, ROOT } from './project.ts';
import { serving } from './served.ts';

/** Copies the example model into the project, as a user's own. */
export function copyExample(project: Project): void {
  const digits = join(ROOT, 'examples/digits');
  const here = (name: string) => join(project.directory, name);
  if (existsSync(here('model'))) return;
  cpSync(join(digits, 'model'), here('model'), { recursive: true });
  cpSync(join(digits, 'inference.ts'), here('inference.ts'));
  const samples = readdirSync(join(digits, 'samples')).slice(0, 4);
  for (const name of samples) cpSync(join(digits, 'samples', name), here(`samples/${name}`));
}

/** Name of a sample in the copy. */
export const SAMPLE = 'samples/00000-7.jpg';

/** What the verbs below write, and would find from an earlier run. */
const MADE = ['model.tar.gz', 'image', 'prefix', 'outputs', 'shards', 'shards.keys', 'unpacked'];

const HANDLER = ['--handler', 'inference.ts'];

/** @throws Error where a verb does not do its work */
export async function checkCommand(project: Project): Promise<void> {
  for (const name of MADE) {
    rmSync(join(project.directory, name), { recursive: true, force: true });
  }
  copyExample(project);
  const json = async (...args: string[]) =>
    JSON.parse((await project.command([...args, '--json'])).stdout);
  assert.match((await project.command(['--version'])).stdout, /^\d+\.\d+\.\d+$/m);
  await project.command(['bake'], { status: 2 });
  assert.match((await project.command(['completion', 'bash'])).stdout, /complete .*sagemaker-tfs/);

  const inspected = await json('inspect', 'model', '--write-sample', 'made-up.npz');
  assert.equal(inspected.models[0].versions[0].version, '1');
  const { stdout: openApi } = await project.command(['inspect', 'model', '--openapi']);
  assert.match(openApi, /"\/invocations"/);
  const packaged = await json('package', 'model', ...HANDLER, '--out', 'model.tar.gz', ...sample());
  assert.equal(packaged.verification.requests[0].status, 200);
  const verified = await json('verify', 'model.tar.gz');
  assert.equal(verified.versions[0].model, packaged.verification.versions[0].model);
  const baked = ['--baked-image', 'image', '--base-image', 'serving:1'];
  await project.command(['package', 'model', ...HANDLER, ...baked]);
  await project.command(['package', 'model', ...HANDLER, '--uncompressed', 'prefix']);
  const findings: { what: string; ok: boolean }[] = JSON.parse(
    (await project.command(['doctor', '--json'])).stdout,
  );
  assert.ok(findings.some(({ what, ok }) => what === 'TensorFlow library' && ok));
  assert.ok((await json('estimate', '--images', '1000', '--seconds-per-image', '0.1')) !== null);
  await checkServing(project, json);
  for (const backend of ['rest', 'in-process']) await answers(project, backend);
}

const sample = () => ['--sample', SAMPLE];

async function checkServing(
  project: Project,
  json: (...args: string[]) => Promise<ReturnType<typeof JSON.parse>>,
): Promise<void> {
  await serving(project, ['model.tar.gz'], async (url) => {
    const { body } = await json('invoke', SAMPLE, '--url', url);
    assert.equal(JSON.parse(body).predictions[0].digit, 7);
    const few = ['--requests', '4', '--transport', 'grpc', 'rest', '--report', 'bench.html'];
    const measured = await json('bench', SAMPLE, '--url', url, ...few);
    const [grpc, rest] = measured.results;
    assert.deepEqual([grpc.latency.count, rest.latency.count], [4, 4]);
    writeFileSync(join(project.directory, 'bench.json'), JSON.stringify(measured));
    const report = ['--out', 'outputs', '--report', 'batch.html'];
    const job = await json('batch', 'local', 'samples', '--url', url, ...report);
    assert.equal(job.done, 4);
    writeFileSync(join(project.directory, 'empty.json'), '{}');
    await project.command(['invoke', 'empty.json', '--url', url], { status: 1 });
  });
  await project.command(['bench', '--compare', 'bench.json', 'bench.json']);
  const written = ['--chart', 'tune.svg', '--report', 'tune.html'];
  const short = ['--seconds', '1', '--max-concurrency', '1'];
  const { knee } = await json('tune', SAMPLE, '--model', 'model.tar.gz', ...short, ...written);
  assert.equal(knee.errors, 0);
  for (const file of ['bench.html', 'batch.html', 'tune.html']) {
    assert.match(readFileSync(join(project.directory, file), 'utf8'), /<title>/, file);
  }
  await project.command(['batch', 'pack', 'samples', '--out', 'shards']);
  const [shard = ''] = readdirSync(join(project.directory, 'shards'));
  await project.command(['batch', 'unpack', `shards/${shard}`, '--out', 'unpacked']);
}

async function answers(project: Project, backend: string): Promise<void> {
  await serving(project, ['model', ...HANDLER, '--backend', backend], async (url) => {
    const { stdout } = await project.command(['invoke', SAMPLE, '--url', url]);
    assert.equal(JSON.parse(stdout).predictions[0].digit, 7);
  });
}

/**
 * Every verb must have done its work here: what nothing runs may be broken in the bundle alone.
 * @throws AssertionError with the verbs that no line ran
 */
export async function checkVerbs({ ran }: Project): Promise<void> {
  const verbs = tableOf(program())
    .filter(({ path, verbs }) => verbs.length === 0 && !/(^|\s)help$/.test(path))
    .map(({ path }) => path);
  assert.ok(verbs.length > 20, verbs.join(', '));
  const missing = verbs.filter((verb) => !ran.has(verb));
  assert.deepEqual(missing, [], 'verbs that no part has run to their end');
}
