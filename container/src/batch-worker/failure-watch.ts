/** Ends a worker of whose inputs too many fail. */
import { areTooMany, BatchError, type WorkerCounts } from '@sagemaker-tfs/batch';
import type { WorkerOptions } from './options.ts';
import type { Row } from './part-writer.ts';

/** Inputs that were tried, and those of them that failed. */
interface Tries {
  tried: number;
  failed: number;
}

/** Looks at the rows of a range, of all ranges of the process, and at the end at all that the worker's ranges hold. */
export class FailureWatch {
  readonly #most: number;
  readonly #ofProcess: Tries = { tried: 0, failed: 0 };
  #lastReason = '';

  constructor({ maxFailurePercent }: Pick<WorkerOptions, 'maxFailurePercent'>) {
    this.#most = maxFailurePercent;
  }

  /** A range begins. @returns counts its rows; throws BatchError WORKER_FAILURES */
  range(): (row: Row) => void {
    const ofRange: Tries = { tried: 0, failed: 0 };
    return ({ failure }) => {
      for (const tries of [ofRange, this.#ofProcess]) {
        tries.tried++;
        if (failure) tries.failed++;
      }
      if (!failure) return;
      this.#lastReason = failure.message;
      for (const { failed, tried } of [ofRange, this.#ofProcess]) {
        if (areTooMany(failed, tried, this.#most)) throw this.#tooMany(failed, tried);
      }
    };
  }

  /** All ranges are done: few inputs count as well, and what other processes did. @throws BatchError WORKER_FAILURES */
  atEnd({ answers, failures }: WorkerCounts): void {
    const tried = answers + failures;
    if (failures * 100 > this.#most * tried) throw this.#tooMany(failures, tried);
  }

  #tooMany(failed: number, tried: number): BatchError {
    const reason =
      this.#lastReason && ` The last reason: ${this.#lastReason.replace(/[.]?$/, '.')}`;
    return new BatchError(
      'WORKER_FAILURES',
      `${failed} of ${tried} inputs failed, and --max-failure-percent is ${this.#most}.${reason} What is written stays. Fix the cause, and give another output prefix.`,
    );
  }
}
