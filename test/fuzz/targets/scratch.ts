/** What targets keep for as long as they are exercised: a folder, servers, connections. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;
const closing: (() => void)[] = [];

/** Files that a parser wants on a disk; one folder for the process. */
export function scratch(): string {
  if (folder) return folder;
  folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  mkdirSync(join(folder, 'model', 'variables'), { recursive: true });
  process.once('exit', removeScratch);
  return folder;
}

/** Called by {@link removeScratch}. */
export function onRemove(close: () => void): void {
  closing.push(close);
}

/** Removes what the targets wrote and opened; done when the process ends, at the latest. */
export function removeScratch(): void {
  for (const close of closing.splice(0)) close();
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
}
