/** Long work that pauses: done at once, or with the turns of others in between. */

/** Yields whenever a few milliseconds of work are done; returns the result. */
export type Steps<T> = Generator<void, T, void>;

/** The result, without pauses. @throws what the work throws */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The result; waits for `nextTurn` at each pause. @throws what the work and `nextTurn` throw */
export async function stepsInTurns<T>(
  steps: Steps<T>,
  nextTurn: () => Promise<unknown>,
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/**
 * Counts work. Called with what was just done, it returns true each time that `most` is reached: time for a pause.
 * @param most such as bytes, or elements
 */
export function pauseAfter(most: number): (done: number) => boolean {
  let sum = 0;
  return (done) => {
    sum += done;
    if (sum < most) return false;
    sum = 0;
    return true;
  };
}
