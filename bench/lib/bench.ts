/** What a benchmark is, and what it finds. */

/** One question about speed, answered by one file of `bench/`. */
export interface Bench {
  /** As `--only` takes it, and the name of its files in `bench/results/`. */
  readonly name: string;
  readonly question: string;
  run(context: BenchContext): Promise<Findings>;
}

/** How a run is made. */
export interface BenchContext {
  /** Short windows: figures to look at, none to keep. */
  readonly quick: boolean;
  /** Seconds that a load is measured. */
  readonly seconds: number;
  /** Megabytes of the model that the packaging benchmark makes. */
  readonly modelMegabytes: number;
  /** Pictures of the local batch job. Default: the benchmark's own number. */
  readonly pictures?: number;
  /** One line of progress. */
  log(text: string): void;
}

/** What one benchmark found. */
export interface Findings {
  readonly tables: readonly ResultTable[];
  readonly charts?: readonly Chart[];
  readonly targets?: readonly Target[];
  /** What a reader must know to read the tables; Markdown. */
  readonly notes?: readonly string[];
}

/** A table; a cell that is missing is shown as a dash. */
export interface ResultTable {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** One column; its unit belongs to the title. */
export interface Column {
  readonly key: string;
  readonly title: string;
}

/** Cells by the key of their column. */
export type Row = Readonly<Record<string, string | number | undefined>>;

/** Bars, the shorter the better where `unit` is a time. */
export interface Chart {
  readonly title: string;
  /** Under the title, in words: what the model computes, and how many processes serve. */
  readonly conditions: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

/** Something that the project promises, as measured here. */
export interface Target {
  readonly what: string;
  readonly bound: 'at least' | 'at most';
  readonly target: number;
  readonly measured: number;
  /** `x` for a ratio to a baseline of the same run. */
  readonly unit: string;
}

/** True where the measurement keeps the bound. */
export function isMet({ bound, target, measured }: Target): boolean {
  return bound === 'at least' ? measured >= target : measured <= target;
}

/** Three significant digits, or whole numbers from 100 on. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
