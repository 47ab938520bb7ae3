/** The canned model server's REST side: ready-made JSON, as fast as a server can answer. */
import { createServer } from 'node:http';
import { DTYPES, type DType, toNested } from '@sagemaker-tfs/tensors';
import type { CannedCase } from './cases.ts';

/** Serves `:predict` (row format), the model's metadata and its status. */
export function serveRest(canned: CannedCase, model: string, port: number): void {
  let predictions: Buffer | undefined;
  const status = Buffer.from(
    JSON.stringify({ model_version_status: [{ version: '1', state: 'AVAILABLE', status: {} }] }),
  );
  const described = Buffer.from(JSON.stringify(metadata(canned, model)));
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      response.end(request.url?.endsWith('/metadata') ? described : status);
      return;
    }
    request.resume().on('end', () => {
      predictions ??= rowFormat(canned);
      response.end(predictions);
    });
  });
  server.keepAliveTimeout = 600_000;
  // As TensorFlow Serving says it, which is waited for.
  // In the form of TensorFlow's log: the runtime believes no other line.
  const at = '2026-01-01 00:00:00.000000: I tensorflow_serving/model_servers/server.cc:1]';
  server.listen(port, () =>
    process.stderr.write(`${at} Exporting HTTP/REST API at:localhost:${port} ...\n`),
  );
}

function metadata({ inputs, outputs }: CannedCase, model: string) {
  const signature = {
    inputs: tensorInfos(inputs),
    outputs: tensorInfos(outputs),
    method_name: 'tensorflow/serving/predict',
  };
  return {
    model_spec: { name: model, signature_name: '', version: '1' },
    metadata: { signature_def: { signature_def: { serving_default: signature } } },
  };
}

function tensorInfos(
  tensors: Readonly<Record<string, { dtype: DType; shape: readonly number[] }>>,
) {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, shape }]) => {
      const dim = shape.map((size) => ({ size: String(size), name: '' }));
      const tensor_shape = { dim, unknown_rank: false };
      return [name, { dtype: DTYPES[dtype].enumName, tensor_shape, name: `${name}:0` }];
    }),
  );
}

function rowFormat(canned: CannedCase): Buffer {
  const entries = Object.entries(canned.outputs);
  const rows = entries.map(([name, tensor]) => [name, toNested(tensor) as unknown[]] as const);
  const [only] = rows;
  const predictions =
    rows.length === 1 && only
      ? only[1]
      : (only?.[1] ?? []).map((_, index) =>
          Object.fromEntries(rows.map(([name, values]) => [name, values[index]])),
        );
  return Buffer.from(JSON.stringify({ predictions }));
}
