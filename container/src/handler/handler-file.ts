/** Where the handler of an archive lies. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the handler in `code/`, the first that exists is taken. */
export const HANDLER_FILES: readonly string[] = ['inference.mjs', 'inference.js', 'inference.cjs'];

/** Path of the handler in `<modelDir>/code`; undefined if there is none. */
export function handlerFile(modelDir: string): string | undefined {
  return HANDLER_FILES.map((name) => join(modelDir, 'code', name)).find((file) => existsSync(file));
}
