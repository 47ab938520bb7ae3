import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, writeFaultyModel } from '../../test/fixtures/faulty-models.ts';
import { fixtureModel, loadGoldens } from '../../test/fixtures/index.ts';
import { loadAndRun } from '../../test/fixtures/load-and-run.ts';
import { LibTensorFlowError, SavedModelSession } from './index.ts';

let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'saved-model-'));
});
afterEach(() => rm(scratch, { recursive: true }));

async function failure(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LibTensorFlowError) return { code: error.code, message: error.message };
  throw new Error('no LibTensorFlowError', { cause: error });
}

describe('a directory that is not a SavedModel', () => {
  it('does not exist', async () => {
    const path = join(scratch, 'nowhere');
    expect(await failure(SavedModelSession.load(path))).toEqual({
      code: 'NOT_A_SAVED_MODEL',
      message: `${path} is not a SavedModel: there is no such directory.`,
    });
  });

  it('is empty', async () => {
    const { code, message } = await failure(SavedModelSession.load(scratch));
    expect(code).toBe('NOT_A_SAVED_MODEL');
    expect(message).toContain('it holds no saved_model.pb');
  });

  it('holds version directories: the newest is named', async () => {
    await mkdir(join(scratch, '20'));
    writeFaultyModel(join(scratch, '9'), 'variables are missing');
    writeFaultyModel(join(scratch, '10'), 'variables are missing');
    const { message } = await failure(SavedModelSession.load(scratch));
    expect(message).toContain(`${join(scratch, '10')} does: give that directory.`);
  });

  it('is a file', async () => {
    const { code } = await failure(SavedModelSession.load(__filename));
    expect(code).toBe('NOT_A_SAVED_MODEL');
  });
});

describe('a damaged SavedModel says which file, and what to do', () => {
  const graph = 'saved_model.pb is damaged or incomplete: copy or export it again';
  const variables = 'The variables/ folder of the SavedModel is damaged or incomplete';
  const cut = 'Where saved_model.pb is empty or cut off';
  const cases: readonly [Fault, string, string, string][] = [
    ['saved_model.pb is missing', 'NOT_A_SAVED_MODEL', 'no saved_model.pb', 'Give the directory'],
    ['saved_model.pb is empty', 'MODEL_LOAD_FAILED', 'supplied tags', cut],
    ['saved_model.pb is truncated', 'MODEL_LOAD_FAILED', 'Read less bytes', graph],
    ['saved_model.pb is text', 'MODEL_LOAD_FAILED', 'saved_model.pb', graph],
    ['saved_model.pb has no MetaGraph', 'MODEL_LOAD_FAILED', 'supplied tags', cut],
    ['variables are missing', 'RUN_FAILED', 'Could not find variable', 'variables/ folder'],
    ['variables.index is truncated', 'MODEL_LOAD_FAILED', 'bad magic number', variables],
    ['variables.data is missing', 'MODEL_LOAD_FAILED', 'No such file', variables],
    ['variables.data is truncated', 'MODEL_LOAD_FAILED', 'Read less bytes', variables],
  ];

  it.each(cases)('%s', async (fault, code, said, advice) => {
    const directory = join(scratch, '1');
    writeFaultyModel(directory, fault);
    expect(await failure(loadAndRun(directory))).toEqual({
      code,
      message: expect.stringContaining(said),
    });
    expect((await failure(loadAndRun(directory))).message).toContain(advice);
  });

  it('tags that it does not have', async () => {
    const { directory } = fixtureModel('half_plus_two');
    const { code, message } = await failure(SavedModelSession.load(directory, { tags: ['tpu'] }));
    expect(code).toBe('MODEL_LOAD_FAILED');
    expect(message).toContain('with tags tpu');
    expect(message).toContain('usually "serve"');
  });
});

describe('options of a session', () => {
  it('are understood by TensorFlow', async () => {
    const { directory } = fixtureModel('half_plus_two');
    const session = await SavedModelSession.load(directory, {
      interOpThreads: 1,
      intraOpThreads: 1,
      gpuMemoryFraction: 0.5,
      jit: true,
    });
    const [golden] = loadGoldens(fixtureModel('half_plus_two'));
    const { outputs } = await session.run(golden?.signature ?? '', golden?.cases[0]?.inputs ?? {});
    expect(Object.keys(outputs)).toEqual(Object.keys(golden?.cases[0]?.outputs ?? {}));
    await session.close();
  });
});
