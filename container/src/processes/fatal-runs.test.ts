/** In-process, a request that ends TensorFlow, and with it the worker, is refused once it has ended two that watched it. */
import { join } from 'node:path';
import { invoke } from '../testing/invoke.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const MODEL = join(__dirname, '..', '..', '..', 'libtensorflow', 'fixtures', 'sized');

const serve = useRuntimes(afterEach);

const ends = (runtime: RuntimeProcess) =>
  runtime.log().filter(({ msg }) => `${msg}`.includes('was killed by')).length;

/** @returns status and code, or that the connection was lost */
async function ask(runtime: RuntimeProcess, signature: string, length: number): Promise<string> {
  const attributes = `tfs-signature=${signature}`;
  const body = JSON.stringify({ inputs: length });
  try {
    const response = await invoke(runtime, { body, attributes });
    const { code } = (await response.json()) as { code?: string };
    return code === undefined ? `${response.status}` : `${response.status} ${code}`;
  } catch {
    return 'lost';
  }
}

test.each([1, 2])('of %d processes', async (processes) => {
  const runtime = await serve(
    { copies: { 'sized/1': MODEL } },
    { SAGEMAKER_TFS_BACKEND: 'in-process', SAGEMAKER_TFS_PROCESSES: String(processes) },
  );
  // A transform of no length.
  const fatal = () => ask(runtime, 'fft', 0);
  const answers: string[] = [];
  while (answers.length < 10 && !answers.includes('400 FATAL_REQUEST')) {
    const before = ends(runtime);
    const answer = await fatal();
    answers.push(answer);
    if (answer.includes('FATAL')) break;
    await until(() => ends(runtime) > before);
    await runtime.ready();
    await until(async () => (await ask(runtime, 'fill', 3)) === '200');
  }
  expect(answers).toHaveLength(4);
  expect(answers[3]).toBe('400 FATAL_REQUEST');
  const before = ends(runtime);
  expect(await Promise.all(Array.from({ length: 8 }, fatal))).toEqual(
    Array(8).fill('400 FATAL_REQUEST'),
  );
  expect([await ask(runtime, 'fft', 4), await ask(runtime, 'fill', 3)]).toEqual(['200', '200']);
  expect(ends(runtime)).toBe(before);
});

test('what was at work beside it is answered, however often, and it is refused once it was alone', async () => {
  const runtime = await serve(
    { copies: { 'sized/1': MODEL } },
    { SAGEMAKER_TFS_BACKEND: 'in-process', SAGEMAKER_TFS_PROCESSES: '1' },
  );
  for (let round = 0; round < 5; round++) {
    // Long enough to be at work beside the other, which comes in another form each time.
    const fatal = ask(runtime, 'fft', -round);
    const [other] = await Promise.all([ask(runtime, 'fill', 2_000_000), fatal]);
    expect(other).not.toBe('400 FATAL_REQUEST');
    await runtime.ready();
  }
  await until(async () => (await ask(runtime, 'fill', 2_000_000)) === '200');
  const answers: string[] = [];
  while (answers.length < 5 && !answers.includes('400 FATAL_REQUEST')) {
    answers.push(await ask(runtime, 'fft', 0));
    await runtime.ready();
  }
  expect(answers).toContain('400 FATAL_REQUEST');
  expect(await ask(runtime, 'fill', 2_000_000)).toBe('200');
});

test('what is found out about a model says nothing of the next one of its name', async () => {
  const { directory: root, remove } = await createModelDir({
    copies: { 'first/model/1': MODEL, 'next/model/1': MODEL },
  });
  const runtime = await startRuntimeProcess({
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: root,
    SAGEMAKER_TFS_BACKEND: 'in-process',
    SAGEMAKER_TFS_PROCESSES: '1',
  });
  const post = async (path: string, body: unknown) => {
    const headers = { 'Content-Type': 'application/json' };
    const given = { method: 'POST', body: JSON.stringify(body), headers };
    const response = await fetch(`${runtime.url}${path}`, given).catch(() => undefined);
    return response && [response.status, ((await response.json()) as { code?: string }).code];
  };
  const load = (name: string) =>
    post('/models', { model_name: 'sized', url: `${root}/${name}/model` });
  const fatal = () => post('/models/sized/invoke', { inputs: 0, signature_name: 'fft' });
  try {
    await runtime.ready();
    expect(await load('first')).toEqual([200, undefined]);
    await until(async () => {
      const answer = await fatal();
      await runtime.ready();
      return answer?.[1] === 'FATAL_REQUEST';
    });
    await fetch(`${runtime.url}/models/sized`, { method: 'DELETE' });
    expect(await load('next')).toEqual([200, undefined]);
    const before = ends(runtime);
    expect((await fatal())?.[1]).not.toBe('FATAL_REQUEST');
    await until(() => ends(runtime) > before);
  } finally {
    await runtime.end('SIGKILL');
    await remove();
  }
});
