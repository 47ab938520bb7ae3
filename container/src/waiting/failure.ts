/** A failure that may come at any time. */
export interface Failure {
  /** Never resolves. That nobody waits for it is no unhandled rejection. */
  readonly failed: Promise<never>;
  /** Rejects `failed`; only the first call counts. */
  readonly fail: (error: Error) => void;
}

/** A failure that has not come yet. */
export function laterFailure(): Failure {
  let fail: Failure['fail'] = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  return { failed, fail };
}
