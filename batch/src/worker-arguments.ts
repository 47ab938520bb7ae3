/** What the image is started with as a batch worker; `container/src/batch-worker/options.ts` reads it. */
export interface WorkerArguments {
  /** Where the worker finds its model: a path of its machine, or an S3 URI. */
  readonly modelPath: string;
  /** S3 prefixes, or what the machine puts in their place. */
  readonly input: string;
  readonly output: string;
  readonly contentType: string;
  readonly accept: string;
  readonly inFlight?: number;
  readonly ranges?: number;
  readonly keySuffix?: string | undefined;
  readonly maxFailurePercent?: number | undefined;
}

/** The arguments as a list. The places stand alone: AWS Batch replaces only arguments that are a reference as a whole. */
export function workerArguments({ input, output, ...others }: WorkerArguments): string[] {
  const flags = Object.entries(others).flatMap(([name, value]) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  return ['batch-worker', '--input', input, '--output', output, ...flags];
}
