/** What `inspect` tells of a model: plain data, as `--json` prints it. */
import type { ExampleFeature } from '../saved-model/example-features.ts';
import type { FunctionSummary } from '../saved-model/functions.ts';
import type { VariableSummary } from '../saved-model/variables.ts';

/** Everything found in a source. */
export interface InspectReport {
  /** As the caller named it. */
  readonly source: string;
  readonly models: readonly ModelReport[];
}

/** One model. */
export interface ModelReport {
  readonly name: string;
  /** Oldest first. */
  readonly versions: readonly VersionReport[];
}

/** One version of a model. */
export interface VersionReport {
  readonly version: string;
  /** Absolute path. */
  readonly directory: string;
  /** Bytes of all its files. */
  readonly bytes: number;
  readonly files: number;
  readonly metaGraphs: readonly MetaGraphReport[];
  readonly variables: readonly VariableSummary[];
  /** Bytes of all variables. */
  readonly variableBytes: number;
  /** What its graphs parse out of tf.Example messages, by name; empty if they parse none. */
  readonly exampleFeatures: Readonly<Record<string, ExampleFeature>>;
  /** Signatures of the first graph that run functions with `jit_compile=True`: compiled for each shape. */
  readonly compiledByXla: readonly string[];
  /** What would keep the model from being served; empty if nothing was found. */
  readonly problems: readonly string[];
}

/** One graph. */
export interface MetaGraphReport {
  readonly tags: readonly string[];
  /** Version of the TensorFlow that wrote it; empty if unknown. */
  readonly tensorflowVersion: string;
  /** GraphDef versions. */
  readonly producer: number;
  readonly minConsumer: number;
  readonly signatures: Readonly<Record<string, SignatureReport>>;
  /** Python functions of a TF2 model; empty in TF1 models. */
  readonly functions: readonly FunctionSummary[];
  readonly assets: readonly AssetReport[];
  readonly nodes: number;
  /** Number of nodes by operation, by name. */
  readonly ops: Readonly<Record<string, number>>;
  /** Operations that are not TensorFlow's own. */
  readonly customOps: readonly string[];
}

/** One signature. */
export interface SignatureReport {
  readonly methodName: string;
  readonly inputs: Readonly<Record<string, TensorReport>>;
  readonly outputs: Readonly<Record<string, TensorReport>>;
}

/** One input or output. */
export interface TensorReport {
  /** `float32`, or the enum name where this project does not carry the dtype. */
  readonly dtype: string;
  /** -1 for any size; null where the rank is unknown. */
  readonly shape: readonly number[] | null;
  /** The graph's name; empty for sparse and composite tensors. */
  readonly tensorName: string;
  /** Value of an input that may be left out, its elements in a flat list. */
  readonly default?: readonly (number | string | boolean)[];
}

/** A file of `assets/`. */
export interface AssetReport {
  readonly filename: string;
  /** Null where the file is missing. */
  readonly bytes: number | null;
}
