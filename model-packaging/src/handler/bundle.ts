/** Bundles a TypeScript handler with everything it imports into one ES module. */
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { misspelledExport } from '@sagemaker-tfs/manifest/handler-exports';
import { HANDLER_MODULE } from '@sagemaker-tfs/manifest/handler-module';
import { type BuildResult, build, type Message, type Metafile, type Plugin } from 'esbuild';
import { doesNotExist, PackagingError } from '../errors.ts';
import { nativeModules } from './native-modules.ts';

/** A handler as it goes into an archive. */
interface BundledHandler {
  /** ES module for Node 20 and later; imports only Node's own modules and {@link HANDLER_MODULE}. */
  readonly code: Uint8Array;
  /** Its source map, with the sources inside. */
  readonly sourceMap: Uint8Array;
  /** Names that the module exports. */
  readonly exports: readonly string[];
}

/** Name of the bundle inside `code/`. */
export const HANDLER_FILE = 'inference.mjs';

/** Bundled CommonJS packages call `require` for Node's own modules; an ES module has none. */
export const REQUIRE_BANNER =
  "import { createRequire as __sagemakerTfsCreateRequire } from 'node:module'; const require = __sagemakerTfsCreateRequire(import.meta.url);";

/** The handler of an archive is such a bundle: bundled again, it must not have the banner twice. */
export const OWN_BUNDLE: Plugin = {
  name: 'own-bundle',
  setup({ onLoad }) {
    onLoad({ filter: /\.mjs$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.startsWith(REQUIRE_BANNER)) return undefined;
      return { contents: text.slice(REQUIRE_BANNER.length), loader: 'js' };
    });
  },
};

/**
 * Bundles `file` (TypeScript or JavaScript). The result depends on the sources alone, not on where they lie.
 * @throws PackagingError HANDLER_NOT_BUNDLED, NATIVE_MODULE or PYTHON_HANDLER, with the place of every fault
 */
export async function bundleHandler(file: string): Promise<BundledHandler> {
  const entry = checkedEntry(file);
  const directory = dirname(entry);
  const result = await runEsbuild(entry, directory);
  const natives = nativeModules(result.metafile);
  if (natives.length > 0) throw nativeModuleError(file, natives);
  const code = result.outputFiles.find(({ path }) => path.endsWith('.mjs'));
  const sourceMap = result.outputFiles.find(({ path }) => path.endsWith('.map'));
  if (!code || !sourceMap) throw notBundled(file, 'esbuild wrote no bundle');
  const exports = exportsOf(result.metafile);
  checkExports(file, exports);
  return { code: code.contents, sourceMap: sourceMap.contents, exports };
}

function checkedEntry(file: string): string {
  const entry = resolve(file);
  if (extname(entry) === '.py') {
    throw new PackagingError('PYTHON_HANDLER', pythonAdvice(file));
  }
  const stat = statSync(entry, { throwIfNoEntry: false });
  if (!stat) throw doesNotExist(`the handler ${file}`);
  if (!stat.isFile()) {
    throw new PackagingError(
      'SOURCE_NOT_FOUND',
      `the handler ${file} is not a file. Give the path of a TypeScript module such as code/inference.ts.`,
    );
  }
  return entry;
}

/** What to do with a Python handler. */
export function pythonAdvice(path: string): string {
  return `${path} is a Python handler; this runtime runs TypeScript. Port it: input_handler(data, context) becomes 'export function inputHandler(data, context)', output_handler becomes outputHandler, handler stays handler; requirements.txt becomes npm packages, which are bundled. Save it as code/inference.ts and remove ${basename(path)}, or name it with --handler.`;
}

type Bundle = BuildResult<{ metafile: true; write: false }>;

async function runEsbuild(entry: string, directory: string): Promise<Bundle> {
  try {
    return await build({
      entryPoints: [entry],
      absWorkingDir: directory,
      outfile: join(directory, HANDLER_FILE),
      write: false,
      metafile: true,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'linked',
      sourcesContent: true,
      legalComments: 'eof',
      charset: 'utf8',
      logLevel: 'silent',
      external: [HANDLER_MODULE],
      banner: { js: REQUIRE_BANNER },
      plugins: [OWN_BUNDLE],
      define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
      loader: { '.node': 'copy' },
    });
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const faults = error.errors.map((message) => `  ${explain(message)}`).join('\n');
    // Without esbuild's error as the cause: it says the same in other words.
    throw notBundled(entry, `\n${faults}`);
  }
}

function notBundled(file: string, why: string): PackagingError {
  return new PackagingError(
    'HANDLER_NOT_BUNDLED',
    `the handler ${file} cannot be bundled. Mend what esbuild says: ${why}`,
  );
}

function isBuildFailure(error: unknown): error is Error & { errors: Message[] } {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

/** One fault with its place and, for a package that is not there, what to do. */
function explain({ text, location }: Message): string {
  const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : '';
  const missing = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing === undefined) return `${place}${text}`;
  const advice = missing.startsWith('.')
    ? 'no such file'
    : 'not installed: npm install it where the handler lies; everything is bundled at packaging time and nothing is installed in the container';
  return `${place}cannot find '${missing}' (${advice})`;
}

function nativeModuleError(file: string, natives: readonly string[]): PackagingError {
  const list = natives.map((native) => `  ${native}`).join('\n');
  return new PackagingError(
    'NATIVE_MODULE',
    `the handler ${file} uses native modules, which are compiled for one machine and cannot be bundled:\n${list}\nUse a pure JavaScript or WebAssembly package instead. For images, use decodeImage of '${HANDLER_MODULE}', which the runtime supplies.`,
  );
}

function exportsOf(metafile: Metafile): string[] {
  return Object.values(metafile.outputs).flatMap((output) =>
    output.entryPoint === undefined ? [] : output.exports,
  );
}

/** As the runtime's loader reads a module; what a default export holds shows only when it runs. */
function checkExports(file: string, exports: readonly string[]): void {
  const known = ['handler', 'inputHandler', 'outputHandler', 'default'];
  const misspelled = misspelledExport(exports);
  if (misspelled) {
    throw new PackagingError(
      'HANDLER_NOT_BUNDLED',
      `the handler ${file} exports '${misspelled.name}'. Did you mean '${misspelled.meant}'?`,
    );
  }
  if (exports.some((name) => known.includes(name))) return;
  const found = exports.length === 0 ? 'exports nothing' : `exports only ${exports.join(', ')}`;
  throw new PackagingError(
    'HANDLER_NOT_BUNDLED',
    `the handler ${file} ${found}. Export handler(data, context), or inputHandler(data, context) and outputHandler(result, context).`,
  );
}
