/** Why single inputs of a transform job have no output, from the job's log. */
import { createReadStream } from 'node:fs';
import { loggedReasons, streamManifest } from '@sagemaker-tfs/batch';
import { jobLogs, readJobLog } from '@sagemaker-tfs/batch/logs';
import { writeWhole } from '../../output/write-whole.ts';
import type { DeadLetter } from './fetch/dead-letters.ts';

/** What the log says. */
export interface Explained {
  /** A line for each input that the log tells of: `{"key", "code"?, "status"?, "message"}`. */
  readonly file: string;
  readonly letters: number;
  /** Inputs by the code of their error. */
  readonly codes: Readonly<Record<string, number>>;
  /** Why the log was not read to its end; absent if it was. */
  readonly cut?: string;
}

/** Missing inputs that are looked for in the log. */
const MAX_KEYS = 50_000;

/**
 * Writes the reasons beside the manifest of the missing inputs.
 * @param job name of the transform job
 * @returns undefined if the log tells of none
 */
export async function explainMissing(
  job: string,
  manifest: string,
  region: string | undefined,
): Promise<Explained | undefined> {
  const { prefix, keys } = await firstKeys(manifest);
  const logs = jobLogs(region);
  const log = await readJobLog(logs, job).finally(() => logs.destroy());
  const reasons = loggedReasons(log.lines, prefix, new Set(keys));
  if (reasons.size === 0) return undefined;
  const codes: Record<string, number> = {};
  const lines = [...reasons].map(([key, { code, status, reason: message }]) => {
    const named = code ?? (status === undefined ? 'unknown' : String(status));
    codes[named] = (codes[named] ?? 0) + 1;
    const letter: DeadLetter & { readonly status?: number | undefined } = {
      ...{ key, code, status, message },
    };
    return `${JSON.stringify(letter)}\n`;
  });
  const file = `${manifest.replace(/\.manifest$/, '')}.dead-letters.ndjson`;
  await writeWhole(file, lines.join(''));
  return { file, letters: reasons.size, codes, ...(log.cut && { cut: log.cut }) };
}

async function firstKeys(manifest: string): Promise<{ prefix: string; keys: string[] }> {
  const { prefix, pages } = await streamManifest(createReadStream(manifest), manifest);
  const keys: string[] = [];
  for await (const page of pages) {
    for (const key of page) if (keys.length < MAX_KEYS) keys.push(key);
    if (keys.length >= MAX_KEYS) break;
  }
  return { prefix, keys };
}
