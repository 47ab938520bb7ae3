/** What is said of flags that a release of TensorFlow Serving does not know. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { MODEL_SERVER_BIN } from '../testing/model-server-bin.ts';
import { startRuntimeProcess, until } from '../testing/runtime-process.ts';
import { askVersion, ignoredFlags } from './release.ts';

const PRECISION = '--mixed_precision=bfloat16';
const text = (version: string) =>
  `TensorFlow ModelServer: ${version}\nTensorFlow Library: ${version}\n`;

test.each([
  ['2.8.0-rc1+dev.sha.9400ef1', [PRECISION]],
  ['2.12.1', [PRECISION]],
  ['2.14.1', [PRECISION]],
  ['2.15.1', []],
  ['2.16.1', []],
  ['2.19.1', []],
  ['2.20.0', []],
  ['3.1.0', []],
])('%s ignores', (version, ignored) => {
  const warnings = ignoredFlags(text(version), ['--port=1', PRECISION]);
  expect(warnings).toEqual(
    ignored.map((flag) => expect.stringContaining(` ignores ${flag.split('=')[0]}: `)),
  );
});

test('the warning names the release, what is lost, and the release that has it', () => {
  expect(ignoredFlags(text('2.14.1'), [PRECISION])).toEqual([
    'TensorFlow Serving 2.14 ignores --mixed_precision: the graph runs in float32. 2.15 and later know it.',
  ]);
});

test('flags that were not given, and servers that name no release, get no warning', () => {
  expect(ignoredFlags(text('2.8.0'), ['--port=1'])).toEqual([]);
  expect(ignoredFlags(text('local-model-server'), [PRECISION])).toEqual([]);
  expect(ignoredFlags('', [PRECISION])).toEqual([]);
});

describe('a program on PATH', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'release-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** A `tensorflow_model_server` of an old release: it is the local model server but for its version. */
  async function program(script: string): Promise<{ PATH: string }> {
    const file = join(directory, 'tensorflow_model_server');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return { PATH: `${directory}:${process.env.PATH}` };
  }

  test('one that serves instead of printing is ended by the signal', async () => {
    const env = await program('exec sleep 600');
    const ending = new AbortController();
    const asked = askVersion(env, ending.signal);
    ending.abort();
    await expect(asked).rejects.toThrow('abort');
  });

  test('the runtime asks once it is ready, and warns', async () => {
    const own = join(MODEL_SERVER_BIN, 'tensorflow_model_server');
    const variables = await program(
      `[ "$1" = --version ] && exec echo "TensorFlow ModelServer: 2.13.1"\nexec '${own}' "$@"`,
    );
    const { directory: model, remove } = await createModelDir({
      copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
    });
    const runtime = await startRuntimeProcess({
      SAGEMAKER_TFS_MODEL_DIR: model,
      SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16',
      ...variables,
    });
    try {
      await runtime.ready();
      await until(() => runtime.log().some(({ msg }) => String(msg).includes('2.13 ignores')));
    } finally {
      await runtime.end('SIGKILL');
      await remove();
    }
  });
});
