/** Temporary directories and files, removed when the test file is done. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const created: string[] = [];

afterAll(async () => {
  for (const path of created) await rm(path, { recursive: true, force: true });
});

/** A new, empty directory. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'local-model-server-'));
  created.push(path);
  return path;
}

/** Writes a file into a new directory and returns its path. */
export async function temporaryFile(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, content);
  return path;
}
