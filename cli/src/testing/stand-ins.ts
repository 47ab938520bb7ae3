/** Stand-ins for what the command talks to, and the wait for `serve`, for tests of other folders. */
export { startTransforms } from '../batch/aws/probe/transform-stand-in.ts';
export { startService } from '../batch/aws/sagemaker-stand-in.ts';
export { startStub } from '../batch/test-support.ts';
export { untilServing } from './until-serving.ts';
