/** The key of an input's output. */

/** What SageMaker puts behind an input's key. */
export const OUTPUT_SUFFIX = '.out';

/** Folder below the output prefix that holds a run's own files: shards, reports and manifests. */
export const RUNS_FOLDER = '_shards/';

/** Key of the output, below the output prefix, for an input's key below the input's root. */
export function outputKey(input: string): string {
  return `${input}${OUTPUT_SUFFIX}`;
}

/** The input's key of an output; undefined for anything else that lies below the output prefix. */
export function inputOfOutput(output: string): string | undefined {
  return output.endsWith(OUTPUT_SUFFIX) ? output.slice(0, -OUTPUT_SUFFIX.length) : undefined;
}
