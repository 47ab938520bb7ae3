/** Which release of TensorFlow Serving runs here, and what it ignores of the flags that it was given. */
import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { MODEL_SERVER_PROGRAM } from './command.ts';
import { RELEASES, releaseOf } from './releases.ts';

/** A program that does not know `--version` may serve instead. */
const TIMEOUT_MS = 10_000;

/** What is lost where a flag is ignored. */
const LOST: Readonly<Record<string, string>> = {
  mixed_precision: 'the graph runs in float32',
};

/**
 * What `tensorflow_model_server --version` prints. It runs beside the server, so it has the lowest priority.
 * @throws if there is none, or the signal ends it
 */
export function askVersion(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env, signal, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
    const child = execFile(MODEL_SERVER_PROGRAM, ['--version'], options, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  });
}

/**
 * Warnings of flags that the release ignores, by the table in `container/image/tensorflow-serving.json`; none where
 * the text names no release, as that of the local model server.
 * @param versionText as `--version` prints it
 * @param flags `--name=value` each
 */
export function ignoredFlags(versionText: string, flags: readonly string[]): string[] {
  const [, version] = /TensorFlow ModelServer: (\d+\.\d+)/.exec(versionText) ?? [];
  if (version === undefined) return [];
  return releaseOf(version)
    .lacks.filter((name) => flags.some((flag) => flag.startsWith(`--${name}=`)))
    .map((name) => {
      const since = RELEASES.find(({ lacks }) => !lacks.includes(name));
      return `TensorFlow Serving ${version} ignores --${name}: ${LOST[name] ?? 'it has no effect'}. ${since?.versions[0]} and later know it.`;
    });
}
