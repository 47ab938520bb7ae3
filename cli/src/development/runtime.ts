/** `sagemaker-tfs/development/runtime`: the runtime alone, for programs that run without the bundler. It is not published. */
export { startRuntime } from '../serving/runtime-process.ts';
