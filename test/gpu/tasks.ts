/** What a process of its own does for `npm run gpu`: a GPU's memory and TensorFlow's settings belong to a process. */
import type { MixedPrecision } from '@sagemaker-tfs/libtensorflow';

/** Memory settings of a session. */
export interface MemorySettings {
  readonly gpuMemoryFraction?: number;
  readonly gpuAllowGrowth?: boolean;
}

/** Loads the smallest model and says what TensorFlow has. */
export interface LookTask extends MemorySettings {
  readonly kind: 'look';
  readonly model: string;
}

/** Answers of every fixture model to its goldens' inputs. */
export interface GoldensTask {
  readonly kind: 'goldens';
}

/** The logits of a picture model to fixed pixels, in a file. */
export interface LogitsTask {
  readonly kind: 'logits';
  readonly model: string;
  readonly rows: number;
  readonly out: string;
  readonly mixedPrecision?: MixedPrecision;
}

/** How long runs of several sizes take. */
export interface SweepTask {
  readonly kind: 'sweep';
  readonly model: string;
  readonly sizes: readonly number[];
  /** Runs at once. */
  readonly inFlight: number;
  /** Seconds for each size. */
  readonly seconds: number;
  readonly mixedPrecision?: MixedPrecision;
}

/** One line of JSON on the command line of the child. */
export type Task = LookTask | GoldensTask | LogitsTask | SweepTask;

/** What TensorFlow has, and what the driver said before and after. */
export interface Look {
  readonly tensorflow: string;
  readonly library: string;
  readonly devices: readonly { readonly name: string; readonly memoryBytes: number }[];
  /** Of NVIDIA, as they tell. */
  readonly versions: Readonly<Record<string, string>>;
  /** Files of NVIDIA's that are loaded. */
  readonly loaded: readonly string[];
  /** Seconds until the library was loaded, the model was loaded, and its first run was over. */
  readonly seconds: { readonly library: number; readonly model: number; readonly run: number };
  /** Bytes of the GPU's memory, by the driver. */
  readonly memory: { readonly before?: number; readonly after?: number };
}

/** One fixture model against Python's answers, which a CPU gave. */
export interface GoldenRow {
  readonly model: string;
  readonly cases: number;
  /** Of floats: relative above 1, absolute below. */
  readonly largest: number;
  /** What differs in another way than a float's last digits. */
  readonly wrong?: string;
}

/** One size of a sweep. */
export interface SweepRow {
  readonly size: number;
  /** Seconds of the first run, with whatever is compiled for this size. */
  readonly first: number;
  /** Milliseconds of a run, the median. */
  readonly p50: number;
  readonly perSecond: number;
  /** Percent of the time in which the GPU computed, by the driver. */
  readonly busy?: number;
  /** Why there is no figure. */
  readonly failed?: string;
}
