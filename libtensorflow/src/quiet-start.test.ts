import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** What a process writes to stderr that runs the lines, with this room's functions at hand. */
function stderrOf(lines: string): string {
  const index = JSON.stringify(join(__dirname, 'index.ts'));
  const quiet = JSON.stringify(join(__dirname, 'quiet-start.ts'));
  const script = `const { ensureLibrary, loadLibrary } = await import(${index});
    const { preloadLibrary } = await import(${JSON.stringify(join(__dirname, 'c-api.ts'))});
    const { holdStderr } = await import(${quiet});
    ${lines}`;
  const arguments_ = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stderr, status } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr, status: 0 });
  return stderr;
}

test('TensorFlow loads without a remark, at once and in the background', () => {
  expect(stderrOf('loadLibrary(await ensureLibrary());')).toBe('');
  expect(stderrOf('await preloadLibrary(await ensureLibrary());')).toBe('');
});

test('what others write meanwhile is written, and what comes later', () => {
  const lines = `
    const first = holdStderr();
    const second = holdStderr();
    console.error('WARNING: All log messages before absl::InitializeLog() is called are written to STDERR');
    console.error('I0000 00:00:1795381069.779237    9031 port.cc:153] oneDNN custom operations are on.');
    console.error('E0000 00:00:1795381069.779237    9031 x.cc:1] an error');
    first();
    console.error('a line');
    second();
    console.error('later');`;
  expect(stderrOf(lines)).toBe(
    'E0000 00:00:1795381069.779237    9031 x.cc:1] an error\na line\nlater\n',
  );
});

test.each<[level: string, lines: RegExp]>([
  ['', /^$/],
  ['0', /MLIR|oneDNN|cpu_feature|SavedModel/],
])('with the level %j a model loads and runs with the lines %s', (level, expected) => {
  const model = join(__dirname, '../../test/fixtures/models/half_plus_two/1');
  const lines = `
    ${level && `process.env.TF_CPP_MIN_LOG_LEVEL = '${level}';`}
    const { SavedModelSession } = await import(${JSON.stringify(join(__dirname, 'index.ts'))});
    const session = await SavedModelSession.load(${JSON.stringify(model)}, { library: await ensureLibrary() });
    await session.run('serving_default', { x: { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) } });
    await session.close();`;
  expect(stderrOf(lines)).toMatch(expected);
});
