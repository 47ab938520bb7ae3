import type { Findings } from './bench.ts';

/** One file of `bench/results/`. */
export interface Result extends Findings {
  readonly name: string;
  readonly question: string;
  /** ISO date. */
  readonly date: string;
  readonly quick: boolean;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  /** The version of the model server behind the runtime, where `--model-server` chose one. */
  readonly modelServer?: string;
  /** How long it took to measure. */
  readonly seconds: number;
  /** What else the machine did: its load average before the first benchmark of the run. */
  readonly loadBefore?: number;
  /** Part of the processor time that the host of the virtual machine took for others meanwhile. */
  readonly stolen?: number;
}
