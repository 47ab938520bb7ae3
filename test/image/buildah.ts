import { execa, type Options, type ResultPromise } from 'execa';

/** Runs buildah without a daemon and without namespaces, as root in a plain container or CI machine. */
export function buildah(args: readonly string[], options: Options = {}) {
  return execa('buildah', ['--storage-driver', 'vfs', ...args], options);
}

/** Starts a command inside a container. */
export type Run = (command: readonly string[]) => ResultPromise;

/** Runs commands inside a container, with folders of this machine mounted read-only. */
export function runIn(
  container: string,
  { volumes, variables }: Record<'volumes' | 'variables', Record<string, string>>,
): Run {
  const options = [
    ...Object.entries(volumes).flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]),
    ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
  return (command) =>
    buildah(['run', '--isolation', 'chroot', ...options, container, '--', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
}
