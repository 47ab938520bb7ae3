import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MODEL = join(__dirname, '..', 'fixtures', 'prints');

test('a model prints to stderr and stdout, and answers', () => {
  const script = `
    const { SavedModelSession } = await import(${JSON.stringify(join(__dirname, 'index.ts'))});
    const { ensureLibrary } = await import(${JSON.stringify(join(__dirname, 'ensure-library.ts'))});
    const session = await SavedModelSession.load(${JSON.stringify(MODEL)}, { library: await ensureLibrary() });
    const x = { dtype: 'float32', shape: [2], bytes: new Uint8Array(Float32Array.of(1, 2.5).buffer) };
    for (const key of ['stderr', 'stdout', 'v1']) {
      const { outputs, release } = await session.run(key, { x });
      console.log('answer', new Float32Array(outputs.y.bytes.slice().buffer).join());
      release();
    }
    await session.close();`;
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    { encoding: 'utf8', cwd: join(__dirname, '..') },
  );
  expect({ status, signal, lines: stdout.trim().split('\n').sort(), stderr }).toEqual({
    status: 0,
    signal: null,
    lines: ['answer 2,5', 'answer 2,5', 'answer 2,5', 'to stdout [1 2.5]'],
    stderr: expect.stringContaining('to stderr [1 2.5]\n'),
  });
  expect(stderr).toContain('by Print [1 2.5]\n');
});
