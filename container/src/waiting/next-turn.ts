/** Turns of the event loop for long work that is done in slices. */

/** Bytes copied in one turn of the event loop, which takes less than a millisecond. */
export const COPY_TURN_BYTES = 2 ** 20;

const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, one waiter a turn: many answers that are made at the same
 * time hold up a new request no longer than one of them does, which `setImmediate` alone does not give.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(admit);
  });
}

function admit(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(admit);
}
