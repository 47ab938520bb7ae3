/** `tfs-outputs` of archives that leave outputs out and rename others: what is answered is what is asked for, or an error. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layOut } from '@sagemaker-tfs/model-packaging';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { invoke } from './testing/invoke.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const BODY = JSON.stringify({ inputs: { kind: [[1]], numbers: [[1, 2, 3, 4]] } });
const ROWS = JSON.stringify({ instances: [{ kind: [1], numbers: [1, 2, 3, 4] }] });
/** The outputs of the model are `probabilities` and `score`. */
const ARCHIVES = {
  kept: { outputs: ['score'], rename: { score: 'risk' } },
  renamed: { rename: { score: 'risk' } },
  ordered: { outputs: ['probabilities', 'score'] },
  best: { outputs: ['probabilities'], topK: { k: 1 } },
};

type Archive = keyof typeof ARCHIVES;

describe.each(['grpc', 'rest', 'in-process'])('over %s', (transport) => {
  const runtimes: RuntimeProcess[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'asked-outputs-'));
  });
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.end('SIGKILL');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const serve = async (archive: Archive) => {
    const { basePath } = fixtureModel('keras_functional');
    const { directory } = await layOut(
      { source: basePath, postprocess: ARCHIVES[archive] },
      join(folder, `${archive}${runtimes.length}`),
    );
    const runtime = await startRuntimeProcess({
      SAGEMAKER_TFS_MODEL_DIR: directory,
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '0',
      SAGEMAKER_TFS_BACKEND: transport,
    });
    runtimes.push(runtime);
    await runtime.ready();
    return async (names: string, accept = 'application/json', body = BODY) => {
      const attributes = `tfs-outputs=${names}`;
      const response = await invoke(runtime, { body, accept, attributes });
      return { status: response.status, text: await response.text() };
    };
  };

  const refused = (answered: string, name = 'probabilities') => ({
    status: 400,
    text: JSON.stringify({
      error: `the archive answers no output '${name}' of signature 'serving_default'. It answers ${answered}.`,
      code: 'UNKNOWN_OUTPUT',
    }),
  });

  test('an output that is left out is refused in each form; both names of a renamed one are its', async () => {
    const ask = await serve('kept');
    for (const accept of [
      'application/json',
      'application/x-npz',
      'application/x-npy',
      'text/csv',
    ]) {
      expect(await ask('probabilities', accept)).toEqual(refused('risk'));
      expect(await ask('risk%2Cprobabilities', accept)).toEqual(refused('risk'));
      expect(await ask('nope', accept)).toEqual(refused('risk', 'nope'));
      const both = [await ask('risk', accept, ROWS), await ask('score', accept, ROWS)];
      expect(both[0]).toMatchObject({ status: 200 });
      expect(both[1]).toEqual(both[0]);
    }
  });

  test('the order asked for is that of the answer', async () => {
    const csv = async (archive: Archive, names: string) =>
      (await (await serve(archive))(names, 'text/csv', ROWS)).text.trim().split(',');
    const [score, ...probabilities] = await csv('ordered', 'score%2Cprobabilities');
    expect(probabilities).toHaveLength(3);
    expect(await csv('renamed', 'risk%2Cprobabilities')).toEqual([score, ...probabilities]);
    expect(await csv('renamed', 'probabilities%2Cscore')).toEqual([...probabilities, score]);
  });

  test('what topK reads is asked for by its own name', async () => {
    const ask = await serve('best');
    expect(JSON.parse((await ask('probabilities')).text)).toEqual({
      outputs: { classes: [[expect.any(Number)]], scores: [[expect.any(Number)]] },
    });
    expect(await ask('score')).toEqual(refused('probabilities', 'score'));
  });
});
