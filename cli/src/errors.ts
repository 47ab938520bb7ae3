/** Errors of the command line: each ends the process with a status and one clear message. */

/** Exit statuses of `sagemaker-tfs`. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Ends the command with a message on stderr, without a stack. */
export class CommandError extends Error {
  /** Stable name for programs, shown with `--json`. */
  readonly code: string;
  readonly exitStatus: number;
  /** What was done nevertheless; `--json` prints it beside the error. */
  readonly details: object | undefined;

  constructor(
    code: string,
    message: string,
    options?: ErrorOptions & {
      exitStatus?: (typeof EXIT)[keyof typeof EXIT];
      details?: object | undefined;
    },
  ) {
    super(message, options);
    this.name = 'CommandError';
    this.code = code;
    this.exitStatus = options?.exitStatus ?? EXIT.failed;
    this.details = options?.details;
  }
}

/** Wrong arguments: exit status 2. */
export function usageError(message: string): CommandError {
  return new CommandError('USAGE', message, { exitStatus: EXIT.usage });
}

/** For `.catch` of what reads a file that the user named. */
export function cannotRead(file: string): (cause: unknown) => never {
  return (cause) => {
    throw new CommandError('FILE_NOT_FOUND', `cannot read ${file}`, { cause });
  };
}

/** Message of anything thrown, with those causes that it does not tell itself. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const told: string[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const message = cause.message || cause.name;
    if (!isIssueList(cause) && !told.some((text) => text.includes(message))) told.push(message);
  }
  return told.join('\n  because: ');
}

/** zod's message is a list in JSON; whoever caught it has said it in words. */
function isIssueList(error: Error): boolean {
  return Array.isArray((error as { issues?: unknown }).issues);
}
