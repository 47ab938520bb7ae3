/**
 * Makes `import ... from 'sagemaker-tfs/handler'` in a handler mean this very runtime's module, so that
 * handlers are small and share one copy of every class with the runtime.
 */
import * as nodeModule from 'node:module';
import { HANDLER_MODULE } from '@sagemaker-tfs/manifest/handler-module';
import * as api from './index.ts';

const GLOBAL_KEY = 'sagemaker-tfs.handler';

/** Node 22.15 and later; the types are those of the oldest Node supported. */
interface SynchronousHooks {
  registerHooks?(hooks: {
    resolve(
      specifier: string,
      context: unknown,
      next: (specifier: string, context: unknown) => unknown,
    ): unknown;
  }): void;
}

let provided = false;

/** Provides the import to every module loaded from now on. Does nothing when called again. */
export function provideHandlerImport(): void {
  if (provided) return;
  provided = true;
  (globalThis as Record<symbol, unknown>)[Symbol.for(GLOBAL_KEY)] = api;
  provideRequire();
  const url = moduleUrl();
  const { registerHooks } = nodeModule as SynchronousHooks;
  if (registerHooks) {
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === HANDLER_MODULE ? { url, shortCircuit: true } : next(specifier, context),
    });
  } else {
    nodeModule.register(asyncHooksUrl(url));
  }
}

/** CommonJS has no hooks in Node 20; this is what tracing libraries replace as well. */
function provideRequire(): void {
  const commonJs = nodeModule.Module as unknown as {
    _load(request: string, ...rest: unknown[]): unknown;
  };
  const load = commonJs._load;
  commonJs._load = (request, ...rest) =>
    request === HANDLER_MODULE ? api : load.call(commonJs, request, ...rest);
}

/** A module that hands on what is in this thread's global. */
function moduleUrl(): string {
  const names = Object.keys(api).filter((name) => name !== 'default');
  return dataUrl(
    `const api = globalThis[Symbol.for('${GLOBAL_KEY}')];\n` +
      names.map((name) => `export const ${name} = api.${name};`).join('\n'),
  );
}

/** Node 20's hooks run in a thread of their own and so are a module themselves. */
function asyncHooksUrl(url: string): string {
  return dataUrl(
    `export const resolve = (specifier, context, next) => specifier === '${HANDLER_MODULE}' ? ` +
      `{ url: ${JSON.stringify(url)}, shortCircuit: true } : next(specifier, context);`,
  );
}

function dataUrl(source: string): string {
  return `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
}
