/**
 * What TensorFlow Serving prints while it serves may hold data of requests: the log has source line and number alone. At
 * SAGEMAKER_TFS_LOG_LEVEL=debug whole lines are logged.
 */
import type { Logger } from 'pino';
import type { LineBudget } from './line-reader.ts';
import { isOfServable, type Level, logLine } from './printed-line.ts';

/** Between two reports. */
const REPORT_MS = 5000;
/** Source lines told apart in a report: a request may make some up. */
const MAX_PLACES = 20;
/** What is printed without the form of TensorFlow's log, such as the second line of a text. */
const NO_PLACE = 'elsewhere';
const HIDDEN =
  'the model server has printed lines that may hold data of requests; SAGEMAKER_TFS_LOG_LEVEL=debug shows them';
const DROPPED = 'the model server prints more than is read: the rest is dropped';

/** Counts lines, and logs how many there were. */
export interface HiddenLines {
  add(line: string): void;
  /** Logs what has been counted since the last report. */
  report(): void;
}

/** @param isLogged whether lines of a level are logged at all */
export function hiddenLines(
  log: Logger,
  budget: LineBudget,
  isLogged: (level: Level) => boolean,
): HiddenLines {
  const counts = new Map<string, { level: Level; at: string; lines: number }>();
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    timer ??= setTimeout(report, REPORT_MS).unref();
  };
  const report = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const { level, ...count } of counts.values()) log[level](count, HIDDEN);
    counts.clear();
    const bytes = budget.takeDropped();
    if (bytes > 0) log.warn({ bytes }, DROPPED);
  };
  return {
    add(line) {
      soon();
      if (log.isLevelEnabled('debug')) return log.debug(line);
      const parsed = logLine(line);
      const level = parsed?.level ?? 'info';
      if (!isLogged(level)) return;
      if (parsed && isOfServable(parsed)) return log[level](line);
      const isNew = parsed && !counts.has(`${level} ${parsed.at}`);
      const at = parsed && !(isNew && counts.size >= MAX_PLACES) ? parsed.at : NO_PLACE;
      const count = counts.get(`${level} ${at}`) ?? { level, at, lines: 0 };
      count.lines += 1;
      counts.set(`${level} ${at}`, count);
    },
    report,
  };
}
