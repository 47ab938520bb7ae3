/** Empty tensors with huge other sizes, by every transport: refused before anything goes over their empty rows. */
import { encodeNpy, numericTensor } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { jsonRequest } from './codecs/json-request.ts';
import { decodeContext, signatureOf } from './codecs/test-signatures.ts';
import { checkCall } from './inference/check-call.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const serve = useRuntimes();
let served: RuntimeProcess;
let inProcess: RuntimeProcess;
beforeAll(async () => {
  const copies = { image_uint8: fixtureModel('image_uint8').basePath };
  const start = (SAGEMAKER_TFS_BACKEND: string | undefined) =>
    serve({ copies }, { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'image_uint8', SAGEMAKER_TFS_BACKEND });
  [served, inProcess] = await Promise.all([start(undefined), start('in-process')]);
});

const npy = (...shape: number[]) =>
  Buffer.concat(encodeNpy(numericTensor('uint8', shape, new Uint8Array(0))));

test.each(['grpc', 'rest', 'in-process'])('over %s', async (transport) => {
  const { url } = transport === 'in-process' ? inProcess : served;
  const attributes = `tfs-signature=any_size,tfs-transport=${transport}`;
  for (const [type, body] of [
    ['application/x-npy', npy(30_000_000, 0, 0, 3)],
    ['application/x-npy', npy(1, 0, 30_000_000, 3)],
  ] as const) {
    const response = await fetch(`${url}/invocations`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': type, 'X-Amzn-SageMaker-Custom-Attributes': attributes },
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([400, expect.stringContaining('MAX_STRINGS')]);
  }
  expect((await fetch(`${url}/ping`)).status).toBe(200);
});

test('columns of JSON', async () => {
  const signature = signatureOf({ x: ['float32', [-1, -1]] });
  const checked = async (rows: number) => {
    const body = Buffer.from(`{"inputs":{"x":[${new Array(rows).fill('[]').join(',')}]}}`);
    const { inputs } = await jsonRequest.decode(body, decodeContext(signature, 'application/json'));
    return checkCall(signature, inputs).inputs.x?.shape;
  };
  expect(await checked(1000)).toEqual([1000, 0]);
  await expect(checked(2 ** 20 + 1)).rejects.toMatchObject({ code: 'BAD_INPUT', status: 400 });
});
