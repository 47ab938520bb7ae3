/**
 * What is to be said where a later run over the inputs would take this run's files for inputs, and pay for them.
 * @param keySuffix of the inputs
 */
export function outputsAsInputs(
  input: string,
  output: string,
  keySuffix: string | undefined,
): string | undefined {
  if (keySuffix || !output.startsWith(input)) return undefined;
  return `${output} lies below ${input}. This run leaves its own files out, a later one over ${input} takes them for inputs: choose an output elsewhere, or give --key-suffix`;
}
