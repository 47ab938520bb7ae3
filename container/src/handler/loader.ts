/** Finds and loads the handler of an archive. */
import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { requireRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { misspelledExport } from '@sagemaker-tfs/manifest/handler-exports';
import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { plainError } from '../thrown.ts';
import { inTime } from '../waiting/in-time.ts';
import type { Handler, HandlerModule, InputHandler, OutputHandler } from './api.ts';
import { HANDLER_FILES, handlerFile } from './handler-file.ts';
import { placeInHandler } from './place.ts';

/** A handler ready to be called. */
export interface LoadedHandler {
  readonly path: string;
  /** True: `data` is an async iterable of chunks. */
  readonly streaming: boolean;
  readonly handler: Handler<Uint8Array | AsyncIterable<Uint8Array>> | undefined;
  readonly inputHandler: InputHandler<Uint8Array | AsyncIterable<Uint8Array>> | undefined;
  readonly outputHandler: OutputHandler | undefined;
}

const UNUSABLE = {
  'inference.py':
    'is a Python handler. This runtime runs TypeScript handlers: write code/inference.ts (docs/migrating-from-the-python-container.md has pairs of both) and package it.',
  'inference.ts': 'is not bundled. Package it with `sagemaker-tfs package --handler`.',
} as const;

/**
 * Loads the handler in `<modelDir>/code`.
 * @param deadlineMs how long its module may take
 * @returns undefined if there is none
 * @throws StartError HANDLER_INVALID if there is one that cannot be used
 */
export async function loadHandler(
  modelDir: string,
  log: Logger,
  deadlineMs: number,
): Promise<LoadedHandler | undefined> {
  const codeDir = join(modelDir, 'code');
  const path = handlerFile(modelDir);
  for (const [name, advice] of Object.entries(UNUSABLE)) {
    const file = join(codeDir, name);
    if (!existsSync(file)) continue;
    if (!path) throw new StartError('HANDLER_INVALID', `${file} ${advice}`);
    log.warn(`${file} is ignored. ${path} is the handler.`);
  }
  return path ? importHandler(path, log, deadlineMs) : undefined;
}

/** Warns of files that are named like a handler and lie where no handler is looked for. */
export async function warnOfStrayHandlers(modelDir: string, log: Logger): Promise<void> {
  const expected = join(modelDir, 'code', 'inference.mjs');
  for (const stray of await strayHandlers(modelDir)) {
    log.warn(`${stray} is ignored: a handler must be ${expected}`);
  }
}

async function importHandler(
  path: string,
  log: Logger,
  deadlineMs: number,
): Promise<LoadedHandler> {
  const { provideHandlerImport } = await import('./provide-import.ts');
  provideHandlerImport();
  const exported = await exportsOf(path, deadlineMs);
  const { names, handler, inputHandler, outputHandler, streaming } = exported;
  const misspelled = misspelledExport(names);
  const hint = misspelled && `exports '${misspelled.name}'. Did you mean '${misspelled.meant}'?`;
  if (![handler, inputHandler, outputHandler].some((step) => typeof step === 'function')) {
    const found = hint ?? `exports ${names.join(', ') || 'nothing'}.`;
    throw new StartError(
      'HANDLER_INVALID',
      `${path} ${found} It must export handler(data, context), or inputHandler and outputHandler.`,
    );
  }
  // Packaging refuses it. An archive that was deployed before it did must still start.
  if (hint) log.warn(`${path} ${hint} It is ignored.`);
  return {
    path,
    streaming: streaming === true,
    handler: handler as LoadedHandler['handler'],
    inputHandler: inputHandler as LoadedHandler['inputHandler'],
    outputHandler,
  };
}

/** What a module exports, read once: it may throw anything while it is loaded, and while it is read. */
async function exportsOf(
  path: string,
  deadlineMs: number,
): Promise<HandlerModule & { readonly names: string[] }> {
  try {
    // Nothing could end its reading.
    requireRegularFile(path);
    // The time in the address: an archive that was replaced at the same path is another module.
    const module: HandlerModule & { default?: HandlerModule } = await inTime(
      import(`${pathToFileURL(path).href}?${statSync(path).mtimeMs}`),
      deadlineMs,
      () => tooLate(deadlineMs),
    );
    // A CommonJS handler's exports are the default export.
    const exported = { ...module.default, ...module };
    return { ...exported, names: Object.keys(exported) };
  } catch (thrown) {
    const cause = plainError(thrown);
    const place = placeInHandler(cause.stack ?? '', path);
    const where = place === undefined ? '' : ` (at ${place})`;
    throw new StartError(
      'HANDLER_INVALID',
      `${path} could not be loaded: ${cause.message}${where}`,
      { cause },
    );
  }
}

function tooLate(deadlineMs: number): Error {
  return new Error(
    `it was not loaded after ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS). Its top level, or that of a module that it imports, has an await that never settles.`,
  );
}

async function strayHandlers(modelDir: string): Promise<string[]> {
  const names = new Set<string>([...HANDLER_FILES, ...Object.keys(UNUSABLE)]);
  const entries = await readdir(modelDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && names.has(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(modelDir, path).startsWith('code/inference'));
}
