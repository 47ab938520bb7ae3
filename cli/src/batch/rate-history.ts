/** How fast a job went over its whole time, in bounded memory. */

/** Milliseconds between two points at first. */
const STEP = 250;
/** Points that are kept: beyond twice as many, every other one is dropped. */
const POINTS = 200;

/** Takes what is done so far, and returns the rate. */
interface RateHistory {
  record(done: number): void;
  /** [seconds since the start, how many a second since the point before]. */
  points(): [number, number][];
}

/** @param now milliseconds, for tests */
export function rateHistory(now: () => number = () => performance.now()): RateHistory {
  const started = now();
  let last = { at: started, done: 0 };
  let marks = [last];
  let step = STEP;
  return {
    record(done) {
      last = { at: now(), done };
      if (last.at - (marks.at(-1)?.at ?? 0) < step) return;
      marks.push(last);
      if (marks.length <= 2 * POINTS) return;
      marks = marks.filter((_, at) => at % 2 === 0);
      step *= 2;
    },
    points() {
      const tail = marks.at(-1);
      // What came since the last mark, unless it is too short for a rate.
      const isLate = last.at - (tail?.at ?? 0) > step / 2 || marks.length === 1;
      const all = isLate && last !== tail ? [...marks, last] : marks;
      return all.slice(1).map(({ at, done }, index) => {
        const from = all[index] ?? { at: started, done: 0 };
        return [(at - started) / 1_000, ((done - from.done) * 1_000) / Math.max(1, at - from.at)];
      });
    },
  };
}
