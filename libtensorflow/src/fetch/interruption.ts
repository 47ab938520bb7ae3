/** Lets work clean up after itself where a signal would end the process. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does `work` with a signal that aborts with `outer` or when a signal asks the process to end. In the
 * latter case the process ends as it would have, once `work` has settled; programs that listen to the
 * signal themselves stay in charge.
 */
export async function interruptible<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const told = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    received = name;
    told.abort(new Error(`interrupted by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(outer ? AbortSignal.any([outer, told.signal]) : told.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
    if (received && process.listenerCount(received) === 0) process.kill(process.pid, received);
  }
}
