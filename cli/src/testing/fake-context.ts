/** A handler's context without a model, for tests of its functions alone. */

import type { Context, HandlerLog } from '@sagemaker-tfs/container/handler';
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { CommandError } from '../errors.ts';

/** What a test says of the request; all else has a default. */
export type FakeContext = Partial<Context>;

const SILENT: HandlerLog = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
};

/**
 * A context with the values of a JSON request to `serving_default` of a model named `model`. Its log is silent;
 * `predict` throws unless the test supplies one.
 */
export function fakeContext(known: FakeContext = {}): Context {
  return {
    modelName: 'model',
    modelVersion: undefined,
    method: 'predict',
    restUri: 'http://127.0.0.1:8501/v1/models/model:predict',
    grpcPort: '8500',
    customAttributes: '',
    requestContentType: 'application/json',
    acceptHeader: 'application/json',
    contentLength: undefined,
    signature: {
      key: DEFAULT_SIGNATURE,
      methodName: 'tensorflow/serving/predict',
      inputs: {},
      outputs: {},
    },
    signal: new AbortController().signal,
    log: SILENT,
    predict: () =>
      Promise.reject(
        new CommandError(
          'CONTEXT_WITHOUT_MODEL',
          'this context has no model. Give fakeContext a predict function, or call startModel.',
        ),
      ),
    ...known,
  };
}
