/** `sagemaker-tfs/testing`: handlers and models under test, with jest, vitest or node:test. */
import { requireNode } from '@sagemaker-tfs/batch/node-version';

export { type FakeContext, fakeContext } from './testing/fake-context.ts';
export { closeTo, type GoldenOptions, matchesGolden, type Tolerance } from './testing/golden.ts';
export {
  type ModelUnderTest,
  type PostOptions,
  type StartModelOptions,
  startModel,
} from './testing/start-model.ts';

requireNode('sagemaker-tfs/testing');
