/**
 * `sagemaker-tfs/development/batch`: parts of the local batch agent, for this repository's own demo and simulation. It is
 * not published.
 */
export { outputPath } from '../batch/local/outputs.ts';
export { runtimeClient } from '../batch/local/runtime-client.ts';
