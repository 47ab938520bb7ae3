/** The worker's way through its ranges. */
import type { S3Client } from '@aws-sdk/client-s3';
import { BatchError, rangesOf, type WorkerCounts, type WorkerRange } from '@sagemaker-tfs/batch';
import { openInputs, type S3Object, type WorkerInputs } from '@sagemaker-tfs/batch/s3';
import { untilAborted } from '../waiting/or-aborted.ts';
import { RequestSignal } from '../waiting/request-signal.ts';
import type { Caution } from './caution.ts';
import { FailureWatch } from './failure-watch.ts';
import { inOrder } from './in-order.ts';
import type { WorkerOptions } from './options.ts';
import { partWriter, type Row } from './part-writer.ts';
import { openPlan } from './plan.ts';
import { inputsBetween, markDone, positionOf, sum } from './range.ts';
import type { Store } from './store.ts';

/** What a worker did, and what it found done. */
export interface WorkerReport extends WorkerCounts {
  /** Ranges of this worker, and those of them that are done. */
  readonly ranges: number;
  readonly done: number;
  /** Of the inputs, those that this process has dealt with; the others were done before. */
  readonly now: number;
  readonly seconds: number;
}

/** Everything a worker works with. */
export interface WorkerContext {
  readonly options: WorkerOptions;
  readonly s3: S3Client;
  readonly store: Store;
  /** Changes with the model. */
  readonly model: string;
  readonly maxHeldBytes: number;
  /** Makes the row of an object. @param hold counts bytes until the row is taken */
  readonly rowMaker: (
    inputs: WorkerInputs,
    hold: (bytes: number) => void,
  ) => (object: S3Object) => Promise<Row>;
  /** Objects under way at once, and rows that are written together. */
  readonly caution: Pick<Caution, 'reads' | 'counts'>;
  /** Aborted once the worker should write what it has and end. */
  readonly stopping: AbortSignal;
  readonly onProgress: (report: WorkerReport) => void;
  /** Called when another range is done. @param of ranges of the plan */
  readonly onRangeDone: (of: number) => Promise<void>;
}

/**
 * Works through the ranges of this worker.
 * @throws BatchError OTHER_RUN, OTHER_WORKER, NOTHING_FOUND, WORKER_FAILURES, INVENTORY_INVALID, INVENTORY_NOT_READ; ModelGone; what S3
 *   refuses
 */
export async function work(context: WorkerContext): Promise<WorkerReport> {
  const { options, s3, store, model } = context;
  const started = performance.now();
  const inputs = await openInputs(s3, options);
  const plan = await openPlan(inputs, store, options, model);
  const own = rangesOf(plan).filter(({ number }) => isOwn(number, options));
  const total = new Total(own.length, started);
  const isPrepared = await inputs.prepare?.(plan.cuts, {
    write: store.write,
    begin: options.share.index / options.share.of,
    stopping: context.stopping,
  });
  if (isPrepared === false) return total.report();
  const watch = new FailureWatch(options);
  for (const range of own) {
    if (context.stopping.aborted) break;
    const isDone = await workRange(context, inputs, range, { total, watch });
    if (isDone) await context.onRangeDone(plan.cuts.length + 1);
  }
  const report = total.report();
  const all = report.answers + report.failures + report.gone;
  if (all === 0 && own.length === plan.cuts.length + 1 && !context.stopping.aborted) {
    throw new BatchError(
      'NOTHING_FOUND',
      `${options.inventoryUri ? `${options.inventoryUri} lists` : 'there is'} no input at ${options.inputUri}${options.keySuffix && ` that ends in ${options.keySuffix}`}. Check the prefix.`,
    );
  }
  // Who packs sees what is in no shard by the counts.
  if (report.done === report.ranges && !options.pack) watch.atEnd(report);
  return report;
}

function isOwn(number: number, { range, share }: WorkerOptions): boolean {
  if (range) return number >= range.from && number <= range.to;
  return number % share.of === share.index;
}

/** Counts over all ranges. */
class Total {
  readonly #ranges: number;
  readonly #started: number;
  #counts: WorkerCounts = { answers: 0, failures: 0, gone: 0 };
  #now: WorkerCounts = { answers: 0, failures: 0, gone: 0 };
  #done = 0;

  constructor(ranges: number, started: number) {
    this.#ranges = ranges;
    this.#started = started;
  }

  before(counts: WorkerCounts): void {
    this.#counts = sum(this.#counts, counts);
  }

  written(counts: WorkerCounts): void {
    this.before(counts);
    this.#now = sum(this.#now, counts);
  }

  rangeDone(): void {
    this.#done++;
  }

  report(): WorkerReport {
    const { answers, failures, gone } = this.#now;
    return {
      ...this.#counts,
      ranges: this.#ranges,
      done: this.#done,
      now: answers + failures + gone,
      seconds: (performance.now() - this.#started) / 1_000,
    };
  }
}

/** @returns whether the range has come to its end now */
async function workRange(
  context: WorkerContext,
  inputs: WorkerInputs,
  range: WorkerRange,
  { total, watch }: { total: Total; watch: FailureWatch },
): Promise<boolean> {
  const { options, store, stopping } = context;
  const position = await positionOf(store, range);
  total.before(position.counts);
  if (position.isDone) {
    total.rangeDone();
    return false;
  }
  let counts = position.counts;
  const writer = partWriter(store, {
    range: range.number,
    first: position.next,
    partKeys: options.partKeys,
    partBytes: options.partBytes,
    pack: options.pack,
    onWritten(written) {
      counts = sum(counts, written);
      total.written(written);
      context.onProgress(total.report());
    },
  });
  const between = { after: position.after, upTo: range.upTo };
  const objects = inputsBetween(inputs, between, stopping);
  try {
    for await (const row of rows(context, inputs, objects, watch.range())) {
      await writer.add(row);
      if (context.caution.counts()) await writer.finish();
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  } finally {
    // Also where something ends the worker: what is done need not be done again.
    await writer.finish();
  }
  if (stopping.aborted) return false;
  await markDone(store, range.number, counts);
  total.rangeDone();
  return true;
}

/** Rows in the order of their keys; memory holds what is under way. */
async function* rows(
  { options, maxHeldBytes, rowMaker, caution, stopping }: WorkerContext,
  inputs: WorkerInputs,
  objects: AsyncIterable<S3Object>,
  onRow: (row: Row) => void,
): AsyncGenerator<Row> {
  let held = 0;
  const make = rowMaker(inputs, (bytes) => {
    held += bytes;
  });
  const limits = {
    items: () => caution.reads(options.reads),
    mayBegin: () => held < maxHeldBytes,
  };
  const { signal, cancel } = whenStopped(stopping);
  const makeInTime = (object: S3Object) => untilAborted(signal, () => make(object));
  try {
    for await (const row of inOrder(objects, makeInTime, limits)) {
      if (!row.failure) held -= row.body.length;
      yield row;
      onRow(row);
    }
  } finally {
    cancel();
  }
}

/** Thrown where the worker is to end and an object still has no answer: the next run asks about it. */
class Stopped extends Error {}

/** Milliseconds that objects under way have to end once the worker is to end. */
const STOP_WITHIN = 20_000;

/** A signal that aborts with {@link Stopped} a while after the worker is to end. */
function whenStopped(stopping: AbortSignal) {
  const signal = new RequestSignal();
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    timer = setTimeout(() => signal.abort(new Stopped()), STOP_WITHIN);
  };
  if (stopping.aborted) onStop();
  else stopping.addEventListener('abort', onStop, { once: true });
  return {
    signal,
    cancel() {
      clearTimeout(timer);
      stopping.removeEventListener('abort', onStop);
    },
  };
}
