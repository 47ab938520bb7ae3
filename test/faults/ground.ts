/** What a fault works on, and how it is described. */
import type { Question } from './question.ts';
import type { Backend, Served } from './served.ts';
import type { Tally } from './tally.ts';

/** A runtime under load. */
export interface Ground {
  readonly served: Served;
  readonly tally: Tally;
  readonly questions: readonly Question[];
  /** The folder with the version directories. */
  readonly basePath: string;
  /** How often the fault is repeated, or how many seconds it lasts. */
  readonly times: number;
  /** How long an overload lasts, in ms. */
  readonly overloadMs: number;
  /** Where the disk can be filled: the runtime's temporary directory. */
  readonly smallDisk: string;
  /** The file that tells the processes how wrong their clock is; see clock.ts. */
  readonly clock: string;
  /** Sets what stands between the runtime and the model server; see model-server-proxy.mjs. */
  between(mode: 'pass' | 'slow' | 'refuse' | 'cut' | 'garbage'): void;
}

/** One row of the table. */
export interface Fault {
  readonly name: string;
  /** Honest clients. Default: as the run says. */
  readonly clients?: number;
  /** Default: `mixed`. */
  readonly connections?: 'kept' | 'mixed';
  /** What must be there: a row of the table says so where it is not. */
  readonly needs?: 'model server';
  /** Whether it stays away from the short form. */
  readonly isLong?: boolean;
  /** Whether `/ping` must be answered within a second: whatever clients do, but not where a process stands or ends. */
  readonly keepsPing?: boolean;
  /** Whether the container ends, and SageMaker starts another: what was in flight gets no answer. */
  readonly endsContainer?: boolean;
  /** Error codes that are right answers under this fault, besides the usual refusals. */
  readonly allowed?: readonly string[];
  happen(ground: Ground): Promise<void>;
}

/** Faults that are tried on one runtime, one after another. */
export interface Stage {
  readonly name: string;
  readonly backends: readonly Backend[];
  /** Those of the short form. Default: all. */
  readonly short?: readonly Backend[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly uses?: 'proxy' | 'small disk' | 'several models' | 'clock';
  /** File descriptors of a process. Default: those of the run. */
  readonly descriptors?: number;
  readonly faults: readonly Fault[];
}
