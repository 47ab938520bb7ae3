import type { PreprocessInput } from '@sagemaker-tfs/manifest';
import { parsePreprocess } from '@sagemaker-tfs/manifest';
import { METHOD_NAMES, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import { syntheticInputs } from './synthetic.ts';
import { syntheticRequest } from './synthetic-request.ts';

function requestFor(shape: readonly number[] | undefined, declared?: PreprocessInput) {
  const spec = { dtype: 'float32', dtypeEnum: 1, shape, tensorName: 'x:0' } as const;
  const signature: Signature = {
    key: 'serving_default',
    methodName: METHOD_NAMES.predict,
    inputs: { x: spec },
    outputs: {},
  };
  const inputs = syntheticInputs(signature) as TensorMap;
  return syntheticRequest(signature, inputs, declared && parsePreprocess(declared));
}

test.each([
  ['pictures', [-1, 32, 32, 3], undefined, 'application/x-image'],
  ['any rank', undefined, undefined, 'application/x-npz'],
  ['a sequence', [-1, 10, 8], undefined, 'application/x-npz'],
  ['a sequence that is declared to be a picture', [-1, 10, 8], {}, 'application/x-image'],
  ['rows', [-1, 3], undefined, 'application/x-npz'],
])('%s are asked for as clients would', (_, shape, declared, contentType) => {
  expect(requestFor(shape, declared).contentType).toBe(contentType);
});
