import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { roomDirectory } from '../files.ts';
import { libraryHere } from './library.ts';
import { opensModelServer, portSettings } from './model-server.ts';
import { startRuntime } from './runtime-process.ts';

const work = mkdtempSync(join(tmpdir(), 'installed-'));
const program = join(work, 'tensorflow_model_server');
const { PATH } = process.env;
afterAll(() => {
  process.env.PATH = PATH;
  rmSync(work, { recursive: true, force: true });
});

test('an installed TensorFlow Serving gets no port, which it would open on all addresses', async () => {
  const { directory } = await libraryHere();
  const own = join(roomDirectory('local-model-server'), 'bin/tensorflow_model_server');
  writeFileSync(
    program,
    `#!/bin/sh\necho "$@" > ${work}/flags\nLIBTENSORFLOW_PATH=${directory} exec ${own} "$@"\n`,
  );
  chmodSync(program, 0o755);
  process.env.PATH = `${work}${delimiter}${PATH}`;
  const modelDirectory = fixtureModel('half_plus_two').basePath;
  const runtime = await startRuntime({ modelDirectory, log: join(work, 'log') });
  await runtime.stop();
  expect(runtime.modelServer.kind).toBe('tensorflow-serving');
  expect(readFileSync(join(work, 'flags'), 'utf8')).toMatch(/--port=0 --rest_api_port=0 .*\.sock/);
});

const TCP = 'SAGEMAKER_TFS_MODEL_SERVER_TCP';
test.each<[NodeJS.ProcessEnv, boolean]>([
  [{}, false],
  [{ SAGEMAKER_TFS_BACKEND: 'grpc' }, false],
  [{ SAGEMAKER_TFS_BACKEND: 'in-process', [TCP]: 'true' }, false],
  [{ SAGEMAKER_TFS_BACKEND: 'rest' }, true],
  [{ [TCP]: 'true' }, true],
  [{ [TCP]: 'false' }, false],
])('%j opens an installed one to the network: %s', (variables, isOpen) => {
  expect(opensModelServer({ PATH: work, ...variables })).toBe(isOpen);
  expect(opensModelServer({ PATH: '', ...variables })).toBe(false);
  expect(portSettings({ kind: 'local-model-server' }, variables)).toEqual({});
});
