/** How a worker's process restarts after a crash: it finds the input that causes crashes, and does nothing twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerOptions } from './options.ts';
import { CAUTION, type CautionStage, type Message, QUIET, tellSupervisor } from './supervise.ts';

/** While the process walks: objects under way at once, and rows that are written together. */
const WALKING = { reads: 16, rows: 16 } as const;
/** Rows behind the last part in which a process that walked has ended. */
const ALONE_ROWS = WALKING.reads + WALKING.rows;

/**
 * Stages of a process, in their order. Alone: one object at a time, and the supervisor knows which; a second of quiet and a part
 * behind each. Walking: a few objects at a time, and a part behind each few. None: all at once.
 */
export interface Caution {
  isAlone(): boolean;
  /** Objects under way at once, of those that the settings allow. */
  reads(most: number): number;
  /** Works on one object, which may take several tries. */
  during<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Counts a row. @returns whether all rows are written before the next object is begun */
  counts(): boolean;
}

/**
 * Caution of a process, until it is past the place where the process before it ended.
 * @param tell tells the supervisor
 * @param quiet milliseconds
 */
export function cautionOf(
  { partKeys, reads }: Pick<WorkerOptions, 'partKeys' | 'reads'>,
  tell: (message: Message) => Promise<void> = tellSupervisor,
  quiet = QUIET,
): Caution {
  const stage = process.env[CAUTION] as CautionStage | undefined;
  let alone = stage === 'alone' ? ALONE_ROWS : 0;
  // The process without caution ended at most so far behind the last part.
  let walking = stage === undefined ? 0 : 2 * partKeys + reads;
  let hasAsked = false;
  let unwritten = 0;
  const isAlone = () => alone > 0;
  return {
    isAlone,
    reads: (most) => (isAlone() ? 1 : walking > 0 ? Math.min(WALKING.reads, most) : most),
    async during(key, work) {
      const isFirst = !hasAsked;
      hasAsked = true;
      // A process that soon ends without any object ends now.
      if (isFirst && isAlone()) await sleep(3 * quiet);
      if (isFirst) await tell({ asks: true });
      if (!isAlone()) return work();
      await tell({ at: key, isFirst });
      try {
        return await work();
      } finally {
        // A handler may throw a little later, where nobody catches it.
        await sleep(quiet);
        await tell({ at: '', isFirst });
      }
    },
    counts() {
      if (isAlone()) {
        if (--alone === 0) void tell({ stage: 'walking' });
        return true;
      }
      if (walking === 0) return false;
      if (--walking === 0) void tell({ stage: 'none' });
      unwritten = (unwritten + 1) % WALKING.rows;
      return unwritten === 0 || walking === 0;
    },
  };
}

/** Of a worker that asks no model. */
export const NO_CAUTION: Pick<Caution, 'reads' | 'counts'> = {
  reads: (most) => most,
  counts: () => false,
};
