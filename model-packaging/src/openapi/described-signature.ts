/** A signature with all that its JSON depends on. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import type { SignatureReport, TensorReport } from '../inspect/report.ts';
import type { ExampleFeature } from '../saved-model/example-features.ts';

/** A signature and what is declared around it. */
export interface DescribedSignature {
  readonly key: string;
  readonly report: SignatureReport;
  /** What its graph parses out of tf.Examples, by name. */
  readonly features: Readonly<Record<string, ExampleFeature>>;
  readonly postprocess: Postprocess | undefined;
}

/** Inputs of a signature by name. */
export type Inputs = Readonly<Record<string, TensorReport>>;

/** Inputs without a default of their own. */
export function neededInputs(inputs: Inputs): string[] {
  return Object.keys(inputs).filter((name) => inputs[name]?.default === undefined);
}

/** The input that a value without a name is for: the only one, or the only one without a default. */
export function onlyInput(inputs: Inputs): string | undefined {
  const all = Object.keys(inputs);
  const [name, ...others] = all.length === 1 ? all : neededInputs(inputs);
  return others.length === 0 ? name : undefined;
}
