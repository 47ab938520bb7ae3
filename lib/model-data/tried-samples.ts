/** Which samples a packaged archive has been tried with: a list beside it in the cloud assembly. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelSample } from './inputs.ts';

/** A line for each set of samples. */
const TRIED = 'tried-samples.txt';

/** Hash of the samples: what is sent, and with what. A file that cannot be read counts as empty. */
function digestOf(samples: readonly (string | ModelSample)[]): string {
  const hash = createHash('sha256');
  for (const sample of samples) {
    const { file, ...declared } = typeof sample === 'string' ? { file: sample } : sample;
    const body = existsSync(file) ? readFileSync(file) : Buffer.of();
    hash.update(`${JSON.stringify([file, declared, body.length])}\n`).update(body);
  }
  return hash.digest('hex');
}

/** Calls `attempt` unless the archive in `directory` has passed these samples before. */
export function trySamplesOnce(
  directory: string,
  samples: readonly (string | ModelSample)[],
  attempt: () => void,
): void {
  const list = join(directory, TRIED);
  const digest = digestOf(samples);
  const tried = existsSync(list) ? readFileSync(list, 'utf8').split('\n') : [];
  if (tried.includes(digest)) return;
  attempt();
  appendFileSync(list, `${digest}\n`);
}
