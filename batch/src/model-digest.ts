/** What tells one model from another. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** SHA-256 (hex) of the names and bytes of all files of a model as it is served. */
export async function modelDigest(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length));
  const hash = createHash('sha256');
  for (const path of paths.sort()) {
    hash.update(`${path}\0`);
    await pipeline(createReadStream(directory + path), async (chunks) => {
      for await (const chunk of chunks) hash.update(chunk as Buffer);
    });
  }
  return hash.digest('hex');
}
