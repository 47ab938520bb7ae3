/** At the start and at each load, the log names the signatures whose requests are not joined. */
import { join } from 'node:path';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { createModelDir } from './testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from './testing/runtime-process.ts';

const BATCHING = { SAGEMAKER_TFS_ENABLE_BATCHING: 'true', LOCAL_MODEL_SERVER_POLL_MS: '50' };
const FIXED = /signature \\?"fixed\\?" cannot be batched: input \\?"x\\?" \[2, 3\] has 2 rows/;

let runtime: RuntimeProcess;
let remove: () => Promise<void>;
afterEach(async () => {
  await runtime.end('SIGKILL');
  await remove();
});

test('of a multi-model endpoint, when the model is loaded', async () => {
  const created = await createModelDir({
    copies: {
      'half/model': fixtureModel('half_plus_two').basePath,
      'shapes/model': fixtureModel('shapes').basePath,
    },
  });
  remove = created.remove;
  runtime = await startRuntimeProcess({
    ...BATCHING,
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: created.directory,
  });
  await runtime.ready();
  for (const name of ['half', 'shapes']) {
    const response = await fetch(`${runtime.url}/models`, {
      method: 'POST',
      body: JSON.stringify({ model_name: name, url: join(created.directory, name, 'model') }),
    });
    expect(response.status).toBe(200);
  }
  await until(() => FIXED.test(runtime.output()));
  expect(runtime.output()).toMatch(/"model":"shapes"/);
});

test('of several models, also of those that are not the default', async () => {
  const copies = {
    half_plus_two: fixtureModel('half_plus_two').basePath,
    shapes: fixtureModel('shapes').basePath,
  };
  const created = await createModelDir({ copies });
  remove = created.remove;
  runtime = await startRuntimeProcess({
    ...BATCHING,
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
  });
  await runtime.ready();
  await until(() => FIXED.test(runtime.output()));
});
