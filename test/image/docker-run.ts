/** Lines of the Dockerfile, run outside of an image builder. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const DOCKERFILE = join(import.meta.dirname, '..', '..', 'container', 'Dockerfile');

/** Of npm and pip, at most; an error shows what they wrote. */
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** The commands of a stage's RUN lines, continued lines joined. */
function runLines(stage: string): string[] {
  const text = readFileSync(DOCKERFILE, 'utf8').replace(/\\\n/g, ' ');
  const [, body] = text.split(/^FROM /m).flatMap((part) => {
    const [head = ''] = part.split('\n', 1);
    return head.endsWith(` AS ${stage}`) ? [head, part] : [];
  });
  if (body === undefined) throw new Error(`The Dockerfile has no stage ${stage}.`);
  return [...body.matchAll(/^RUN (.+)$/gm)].map(([, command = '']) => command);
}

/** Runs them in a folder that stands for the stage's WORKDIR. */
export async function dockerRun(
  stage: string,
  cwd: string,
  variables: Record<string, string>,
): Promise<void> {
  for (const command of runLines(stage)) {
    await promisify(execFile)('sh', ['-c', command], {
      cwd,
      env: { ...process.env, ...variables },
      maxBuffer: OUTPUT_BYTES,
    });
  }
}
