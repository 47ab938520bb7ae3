/** TensorFlow's process gets the system's allocator where a request could set sizes, and only there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readEnvironment } from '../environment.ts';
import { createModelDir } from '../testing/model-dir.ts';
import type { RuntimeProcess } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';
import { allocatorVariables } from './allocator-variables.ts';

const VARIABLE = 'TF_ONEDNN_USE_SYSTEM_ALLOCATOR';
const SIZED = join(__dirname, '..', '..', '..', 'libtensorflow', 'fixtures', 'sizes_from_values');
const ON = { [VARIABLE]: 'true' };

const serve = useRuntimes();

/** Values of the variable in the processes below this one: the worker's, the model server's. */
function valuesBelow(pid: number): Set<string> {
  const values = new Set<string>();
  for (const child of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${child}/status`, 'utf8');
      if (!status.includes(`\nPPid:\t${pid}\n`)) continue;
      const found = readFileSync(`/proc/${child}/environ`, 'latin1')
        .split('\0')
        .find((entry) => entry.startsWith(`${VARIABLE}=`));
      values.add(found?.slice(VARIABLE.length + 1) ?? 'unset');
    } catch {
      // It has ended since.
    }
  }
  return values;
}

const linesOf = (runtime: RuntimeProcess) =>
  runtime.log().filter(({ msg }) => `${msg}`.includes(VARIABLE));

test.each([undefined, 'in-process'])('in the process that runs the model: %s', async (backend) => {
  const runtime = await serve(
    { copies: { 'sized/1': SIZED } },
    { SAGEMAKER_TFS_BACKEND: backend, [VARIABLE]: undefined },
  );
  expect(valuesBelow(runtime.pid)).toContain('true');
  const msg = expect.stringMatching(
    /=true is set: in model "sized" values of a request set the size of what node "\S+" \(\w+\) makes$/,
  );
  expect(linesOf(runtime)).toEqual([expect.objectContaining({ msg })]);
});

test('is left alone where shapes set the sizes', async () => {
  const runtime = await serve(
    { copies: { half: fixtureModel('half_plus_two').basePath } },
    { SAGEMAKER_TFS_BACKEND: 'in-process', [VARIABLE]: undefined },
  );
  expect(valuesBelow(runtime.pid)).not.toContain('true');
  expect(linesOf(runtime)).toEqual([]);
});

const model = (path: string) => [{ name: 'm', basePath: join(path, '..'), versions: ['1'] }];
const half = model(fixtureModel('half_plus_two', '1').directory);
const custom = model(fixtureModel('custom_op').directory);
const missing = [{ name: 'm', basePath: '/nonexistent', versions: ['1'] }];

test.each([
  ['no model that needs it', {}, half, {}],
  ['an operation that is not known', {}, custom, ON],
  ["a user's own value", { [VARIABLE]: 'false' }, custom, {}],
  ["without oneDNN, by TensorFlow's variable", { TF_ENABLE_ONEDNN_OPTS: '0' }, custom, {}],
  ['without oneDNN, by ours', { SAGEMAKER_TFS_ONEDNN: 'false' }, custom, {}],
  ['models that come later', { SAGEMAKER_MULTI_MODEL: 'true' }, [], ON],
  ['a directory that is gone, which stops the start', {}, missing, {}],
])('%s', async (_, variables, models, expected) => {
  const { environment } = readEnvironment(variables);
  const told: string[] = [];
  const options = { environment, variables, models, tell: (text: string) => told.push(text) };
  expect(await allocatorVariables(options)).toEqual(expected);
  expect(told).toHaveLength(Object.keys(expected).length);
});

test('a graph that cannot be read', async () => {
  const { directory, remove } = await createModelDir({ files: { 'm/1/saved_model.pb': 'text' } });
  const { environment } = readEnvironment({});
  const models = [{ name: 'm', basePath: join(directory, 'm'), versions: ['1'] }];
  const found = await allocatorVariables({ environment, variables: {}, models, tell: () => {} });
  await remove();
  expect(found).toEqual(ON);
});
