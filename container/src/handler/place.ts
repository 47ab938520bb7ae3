/** Where in a handler an error was thrown. */
import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLACE = /^ {4}at (?:.* \()?(file:\/\/\S+|\/.+?):(\d+):(\d+)\)?$/gm;

/**
 * The innermost place of a stack that lies in the handler's folder, packages aside.
 * @param stack with the places of the sources, as Node's `--enable-source-maps` writes it
 * @param handler path of the handler's module
 * @returns like `inference.ts:4:25`; undefined if no line of the handler is in the stack
 */
export function placeInHandler(stack: string, handler: string): string | undefined {
  const folders = [dirname(handler), realFolder(handler)].map((folder) => folder + sep);
  for (const [, address = '', line, column] of stack.matchAll(PLACE)) {
    const path = pathOf(address);
    const folder = folders.find((start) => path.startsWith(start));
    if (folder === undefined || path.includes(`${sep}node_modules${sep}`)) continue;
    return `${path.slice(folder.length)}:${line}:${column}`;
  }
  return undefined;
}

/** Node resolves links of the modules that it loads. */
function realFolder(handler: string): string {
  try {
    return dirname(realpathSync(handler));
  } catch {
    return dirname(handler);
  }
}

function pathOf(address: string): string {
  if (!address.startsWith('file:')) return address;
  try {
    return fileURLToPath(address);
  } catch {
    return address;
  }
}
