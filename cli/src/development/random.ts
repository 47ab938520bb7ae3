/** `sagemaker-tfs/development/random`: random numbers that are the same at every run. It is not published. */
export { uniform } from '../bench/random.ts';
