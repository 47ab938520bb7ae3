/** What a process of the worker says of itself; where one ends, another continues and counts from 0. */
interface ProcessReport {
  readonly pid: number;
  /** Inputs that it has answered, and in what time. */
  readonly now: number;
  readonly seconds: number;
}

/**
 * Adds up processes that follow each other in one command: `now` and `seconds` are those of all of them. Counted is what
 * an ended process had said last, at its last part; the time in which the next one starts is left out.
 */
export function acrossProcesses<T extends ProcessReport>(): (report: T) => Omit<T, 'pid'> {
  let [now, seconds] = [0, 0];
  let last: T | undefined;
  return (report) => {
    if (last && last.pid !== report.pid) {
      now += last.now;
      seconds += last.seconds;
    }
    last = report;
    const { pid: _, ...rest } = report;
    return { ...rest, now: now + rest.now, seconds: seconds + rest.seconds };
  };
}
