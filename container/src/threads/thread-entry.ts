/** Finds what the runtime's threads run, in the bundle and in the source. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import programs from './programs.json' with { type: 'json' };

/** The first argument of `new Worker`. */
export interface ThreadEntry {
  readonly program: URL | string;
  /** True if `program` is code, not a file. */
  readonly isCode: boolean;
}

/** Name of a thread's program in `programs.json`, and of its bundle; `build.mjs` reads the same list. */
export type ThreadName = keyof typeof programs;

/** The entry, or undefined if there is none: then the work is done in the program's own thread. */
export function threadEntry(name: ThreadName): ThreadEntry | undefined {
  const here = import.meta.url ?? pathToFileURL(__filename).href;
  if (here.endsWith('.ts')) {
    const isLoaderActive = process.execArgv.some((argument) => argument.includes('tsx'));
    return isLoaderActive ? sourceEntry(new URL(`../${programs[name]}`, here)) : undefined;
  }
  // Beside the runtime's own bundle, or seen from another program of the package or the repository.
  const program = [
    `./${name}.js`,
    `../container/dist/${name}.js`,
    `../../container/dist/${name}.js`,
  ]
    .map((path) => new URL(path, here))
    .find((url) => existsSync(fileURLToPath(url)));
  return program && { program, isCode: false };
}

/**
 * Runs TypeScript in a thread. `--import tsx` does not reach a thread's first module, so code registers the
 * loader: its ES module, since the CommonJS one does not find its own parts.
 */
export function sourceEntry(url: URL): ThreadEntry {
  const commonJs = createRequire(url).resolve('tsx/esm/api');
  const loader = pathToFileURL(commonJs.replace(/\.cjs$/, '.mjs')).href;
  const program = `import(${JSON.stringify(loader)}).then(({ register }) => {
    register();
    return import(${JSON.stringify(url.href)});
  });`;
  return { program, isCode: true };
}
