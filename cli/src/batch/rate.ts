/** How fast a job goes and how long it still takes, for the progress line. */

/** Milliseconds over which the rate is taken. */
const WINDOW = 15_000;
/** Milliseconds between two points of it. */
const STEP = 500;

/**
 * Returns the text behind the bar, for example `412/s, 3 min left`, from what is done since the start.
 * @param now milliseconds, for tests
 * @returns a function of what is done and what is left; where that is not known yet, the text has no time
 */
export function rateMeter(
  now: () => number = () => performance.now(),
): (done: number, left?: number) => string {
  const points = [{ at: now(), done: 0 }];
  return (done, left) => {
    const at = now();
    if (at - (points.at(-1)?.at ?? 0) >= STEP) points.push({ at, done });
    while (points.length > 2 && at - (points[0]?.at ?? 0) > WINDOW) points.shift();
    const from = points[0] ?? { at, done };
    const rate = at > from.at ? ((done - from.done) * 1_000) / (at - from.at) : 0;
    if (rate === 0) return '';
    const speed = rateText(rate);
    return left === undefined ? speed : `${speed}, ${duration(left / rate)} left`;
  };
}

/** `412/s`, `3.5/s`. */
export function rateText(perSecond: number): string {
  return `${perSecond.toFixed(perSecond < 9.95 ? 1 : 0)}/s`;
}

/** Seconds for people: `45 s`, `12 min`, `3 h 20 min`, `4 d 6 h`. */
function duration(seconds: number): string {
  if (seconds < 99.5) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
