import { execFileSync } from 'node:child_process';
import { useScratch, withCode } from '../testing/scratch.ts';
import { bundleHandler } from './bundle.ts';

const scratch = useScratch();

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

/** Bundles `source` and gives what `handler('x')` returns in a Node process of its own. */
async function run(source: string, file = 'inference.ts'): Promise<unknown> {
  const { code } = await bundleHandler(scratch.write(file, source));
  const bundle = scratch.path('bundled', 'inference.mjs');
  scratch.write('bundled/inference.mjs', code);
  const script = `import { handler } from ${JSON.stringify(bundle)}; console.log(JSON.stringify(await handler('x')));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  );
}

/** A package in node_modules beside the handler. */
function install(name: string, files: Record<string, string>): void {
  scratch.write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
  for (const [file, content] of Object.entries(files)) {
    scratch.write(`node_modules/${name}/${file}`, content);
  }
}

describe('a bundle runs alone', () => {
  test('TypeScript with relative imports and Node’s modules', async () => {
    scratch.write('labels.ts', "export const label = (text: string): string => text + '!';");
    const source = `import { basename } from 'node:path';
      import { label } from './labels';
      export const handler = async (data: string) => label(basename('a/' + data));`;
    expect(await run(source)).toBe('x!');
  });

  test('npm packages, also CommonJS that requires Node’s modules', async () => {
    install('old-style', {
      'index.js': "const { join } = require('path'); module.exports = (x) => join('dir', x);",
    });
    const source =
      "import add from 'old-style'; export const handler = (data: string) => add(data);";
    expect(await run(source)).toBe('dir/x');
  });

  test('a handler that makes its own require', async () => {
    install('old-style', { 'index.js': "module.exports = require('os').EOL;" });
    const source = `import { createRequire } from 'node:module';
      import eol from 'old-style';
      const require = createRequire(import.meta.url);
      export const handler = () => [typeof require('node:fs').statSync, eol];`;
    expect(await run(source)).toEqual(['function', '\n']);
  });

  test('JSON and top-level await', async () => {
    scratch.write('labels.json', '["a", "b"]');
    const source = `import labels from './labels.json';
      const ready = await Promise.resolve(labels);
      export const handler = () => ready;`;
    expect(await run(source)).toEqual(['a', 'b']);
  });
});

test('the handler API is left for the runtime to supply', async () => {
  const file = scratch.write(
    'inference.ts',
    "import { HttpError } from 'sagemaker-tfs/handler';\nexport const handler = () => { throw new HttpError(400, 'no'); };",
  );
  const { code, exports } = await bundleHandler(file);
  expect(text(code)).toMatch(/from "sagemaker-tfs\/handler"/);
  expect(exports).toEqual(['handler']);
});

test('the source map holds the sources and no absolute path', async () => {
  scratch.write('deep/labels.ts', 'export const labels = ["original text"];');
  const source = "import { labels } from './deep/labels';\nexport const handler = () => labels;";
  const { sourceMap, code } = await bundleHandler(scratch.write('inference.ts', source));
  const map = JSON.parse(text(sourceMap));
  expect(map.sources).toEqual(['deep/labels.ts', 'inference.ts']);
  expect(map.sourcesContent[0]).toContain('original text');
  expect(text(sourceMap) + text(code)).not.toContain(scratch.path());
  expect(text(code)).toContain('//# sourceMappingURL=inference.mjs.map');
});

describe('what cannot be bundled is refused with the place and the reason', () => {
  const refused = async (source: string, file = 'inference.ts') => {
    const error: unknown = await bundleHandler(scratch.write(file, source)).catch(
      (e: unknown) => e,
    );
    if (!(error instanceof Error)) throw new Error('it was bundled');
    return error;
  };

  test('a package that is not installed', async () => {
    const error = await refused("import 'left-pad';\nexport const handler = () => 1;");
    expect(error).toEqual(withCode('HANDLER_NOT_BUNDLED'));
    expect(error.message).toMatch(/inference\.ts:1:8: cannot find 'left-pad' \(not installed: npm/);
  });

  test('a file that is not there', async () => {
    const error = await refused("export const x = 1;\nexport * from './gone';");
    expect(error.message).toMatch(/inference\.ts:2:15: cannot find '\.\/gone' \(no such file\)/);
  });

  test('a syntax error', async () => {
    const error = await refused('export const handler = (');
    expect(error.message).toMatch(/inference\.ts:1:\d+: Unexpected/);
  });

  test('a native module that is loaded directly', async () => {
    install('fast-thing', {
      'index.js': "module.exports = require('./build/fast.node');",
      'build/fast.node': '\x7fELF',
    });
    const error = await refused(
      "import fast from 'fast-thing';\nexport const handler = () => fast;",
    );
    expect(error).toEqual(withCode('NATIVE_MODULE'));
    expect(error.message).toMatch(/fast-thing: inference\.ts -> fast-thing\/index\.js/);
  });

  test('a native module that is looked up when it runs', async () => {
    install('node-gyp-build', { 'index.js': 'module.exports = (dir) => require(dir);' });
    install('fast-thing', { 'index.js': "module.exports = require('node-gyp-build')(__dirname);" });
    const error = await refused(
      "import fast from 'fast-thing';\nexport const handler = () => fast;",
    );
    expect(error).toEqual(withCode('NATIVE_MODULE'));
    expect(error.message).toContain('fast-thing');
  });

  test('no handler among the exports', async () => {
    const error = await refused('export const predict = () => 1;');
    expect(error).toEqual(withCode('HANDLER_NOT_BUNDLED'));
    expect(error.message).toMatch(/exports only predict/);
  });

  test.each([
    ['inputHandlr', ['outputHandler', 'inputHandlr'], 'inputHandler'],
    ['input_handler', ['input_handler'], 'inputHandler'],
    ['OutputHandler', ['inputHandler', 'OutputHandler'], 'outputHandler'],
    ['streeming', ['handler', 'streeming'], 'streaming'],
    ['handle', ['handle'], 'handler'],
    ['openAPI', ['handler', 'openAPI'], 'openapi'],
    ['open_api', ['inputHandler', 'open_api'], 'openapi'],
  ])('a misspelled export: %s', async (name, exports, meant) => {
    const error = await refused(exports.map((each) => `export const ${each} = () => 1;`).join(''));
    expect(error).toEqual(withCode('HANDLER_NOT_BUNDLED'));
    expect(error.message).toContain(`exports '${name}'. Did you mean '${meant}'?`);
  });

  test('a name that is near one of ours, and means another thing, stays', async () => {
    const file = scratch.write(
      'near.ts',
      'export const handler = () => 1; export const openai = 1;',
    );
    expect((await bundleHandler(file)).exports).toEqual(['handler', 'openai']);
  });

  test('Python', async () => {
    const error = await refused('def handler(data, context): pass', 'inference.py');
    expect(error).toEqual(withCode('PYTHON_HANDLER'));
    expect(error.message).toContain('inference.ts');
  });

  test('a path that is not a file', async () => {
    const gone = scratch.path('gone.ts');
    await expect(bundleHandler(gone)).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
      message: `the handler ${gone} does not exist. Check the name.`,
    });
    scratch.write('folder.ts/x', '');
    await expect(bundleHandler(scratch.path('folder.ts'))).rejects.toThrow('is not a file');
  });
});

test('a handler may export helpers, also one whose name is near another export', async () => {
  const source = 'export const handler = () => 1; export const handlers = 2, label = 3;';
  const { exports } = await bundleHandler(scratch.write('inference.ts', source));
  expect(exports.toSorted()).toEqual(['handler', 'handlers', 'label']);
});

test('a handler that was bundled before can be bundled again, and runs', async () => {
  install('old-style', { 'index.js': "module.exports = require('os').EOL;" });
  const source = "import eol from 'old-style'; export const handler = () => eol;";
  const { code } = await bundleHandler(scratch.write('inference.ts', source));
  expect(await run(text(code), 'again.mjs')).toBe('\n');
});
