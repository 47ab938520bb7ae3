/** Models that TensorFlow Serving runs only where it may compile. */

/** What is looked at of an entry of the manifest's `models`. */
interface CompiledModel {
  readonly name: string;
  readonly compiledByXla?: readonly string[] | undefined;
}

/**
 * A warning for each model with signatures that run functions with `jit_compile=True`.
 * @returns empty for models that need no XLA
 */
export function xlaWarnings(models: readonly CompiledModel[]): string[] {
  return models.flatMap(({ name, compiledByXla: keys = [] }) =>
    keys.length === 0 ? [] : [`model "${name}": ${needsXla(keys)}`],
  );
}

/** The sentence for signatures of one model, at least one. */
export function needsXla(keys: readonly string[]): string {
  const named = keys.map((key) => `"${key}"`).join(', ');
  return `${keys.length === 1 ? `signature ${named} runs` : `signatures ${named} run`} a function with jit_compile=True, which TensorFlow Serving refuses ("XLA compilation disabled") unless SAGEMAKER_TFS_XLA is true. Set it, serve in-process, or export the model without jit_compile`;
}
