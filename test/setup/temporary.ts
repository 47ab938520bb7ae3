/** One folder for the temporary files of a whole run. Its name is short: sockets below it have 108 bytes for their path. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where the folder's path stands until the end of the run. */
const OWN = 'JEST_OWN_TMPDIR';

/** Makes the folder; this process and all that it starts write there from now on. */
export function useOwnTemporary(): void {
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  Object.assign(process.env, { TMPDIR: folder, [OWN]: folder });
}

/** After all tests: removes the folder. A process that a test has just killed may write its last file meanwhile. */
export default async function removeTemporary(): Promise<void> {
  const folder = process.env[OWN];
  if (folder) await rm(folder, { recursive: true, maxRetries: 5, retryDelay: 200 });
}
