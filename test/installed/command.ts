/** Every verb that needs no AWS account, as installed. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const HANDLER = ['--handler', 'inference.ts'];

/** @throws Error where a verb does not do its work */
export async function checkCommand(project: Project): Promise<void> {
  copyExample(project);
  const json = async (...args: string[]) =>
    JSON.parse((await project.command([...args, '--json'])).stdout);
  assert.match((await project.command(['--version'])).stdout, /^\d+\.\d+\.\d+$/m);
  const { commands } = helpOf((await project.command(['--help'])).stdout);
  for (const verb of commands) await project.command([verb, '--help']);
  await project.command(['bake'], { status: 2 });

  const inspected = await json('inspect', 'model');
  assert.equal(inspected.models[0].versions[0].version, '1');
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
    const few = ['--requests', '4', '--transport', 'grpc', 'rest'];
    const { results } = await json('bench', SAMPLE, '--url', url, ...few);
    const [grpc, rest] = results;
    assert.deepEqual([grpc.latency.count, rest.latency.count], [4, 4]);
    const chart = ['--chart', 'tune.svg', '--seconds', '1', '--max-concurrency', '1'];
    const { knee } = await json('tune', SAMPLE, '--url', url, ...chart);
    assert.equal(knee.errors, 0);
    const job = await json('batch', 'local', 'samples', '--url', url, '--out', 'outputs');
    assert.equal(job.done, 4);
    writeFileSync(join(project.directory, 'empty.json'), '{}');
    await project.command(['invoke', 'empty.json', '--url', url], { status: 1 });
  });
  await project.command(['batch', 'pack', 'samples', '--out', 'shards']);
}

async function answers(project: Project, backend: string): Promise<void> {
  await serving(project, ['model', ...HANDLER, '--backend', backend], async (url) => {
    const { stdout } = await project.command(['invoke', SAMPLE, '--url', url]);
    assert.equal(JSON.parse(stdout).predictions[0].digit, 7);
  });
}

/** Verbs by what `--help` lists. */
function helpOf(text: string): { commands: string[] } {
  const [, listed = ''] = text.split('Commands:\n');
  const commands = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name as string);
  assert.ok(commands.length > 9, text);
  return { commands: commands.filter((name) => name !== 'help') };
}
