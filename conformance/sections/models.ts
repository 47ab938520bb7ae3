/** SavedModels. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import {
  decodeNpz,
  encodeNpz,
  isNumeric,
  type TensorMap,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { type Served, startServed } from '../../test/faults/served.ts';
import { type Case, joined, nearTensor, type Section, tensorOf } from './case.ts';

async function differsAsModel({ directory, inputs, outputs }: Case): Promise<string | undefined> {
  const session = await SavedModelSession.load(directory as string, {
    library: await ensureLibrary(),
  });
  try {
    const result = await session.run('serving_default', tensorsOf(inputs));
    const wrong = wrongOutput(result.outputs, outputs);
    result.release();
    return wrong;
  } finally {
    await session.close();
  }
}

function tensorsOf(cases: unknown): TensorMap {
  const entries = Object.entries(cases as Record<string, Case>);
  return Object.fromEntries(entries.map(([name, tensor]) => [name, tensorOf(tensor)]));
}

function wrongOutput(
  found: TensorMap,
  expected: unknown,
  { tolerance = 1e-5, least = 0 } = {},
): string | undefined {
  const wrong = Object.entries(expected as Record<string, Case>).find(
    ([name, tensor]) => !nearTensor(found[name], tensor, tolerance, least),
  );
  return wrong && `output ${wrong[0]}`;
}

/** Sums of thousands of products come out in another order. */
const DEEP = { tolerance: 1e-4, least: 0.1 } as const;

/** The runtimes that serve the models, while they are asked. */
let serving: readonly Served[] = [];

async function serve(out: string): Promise<void> {
  const modelDirectory = join(out, 'foreign');
  const names = await readdir(modelDirectory);
  const environment = { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: names[0] as string };
  serving = [
    await startServed({ modelDirectory, backend: 'grpc', environment }),
    await startServed({ modelDirectory, backend: 'in-process', environment }),
  ];
}

async function differsAsServed({ name, inputs, outputs }: Case): Promise<string | undefined> {
  const { body, contentType } = bodyOf(tensorsOf(inputs));
  for (const transport of TRANSPORTS) {
    const served = serving[transport === 'in-process' ? 1 : 0] as Served;
    const response = await fetch(`${served.url}/invocations`, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': contentType,
        Accept: 'application/x-npz',
        'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${name},tfs-transport=${transport}`,
      },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) return `${name} over ${transport}: ${Buffer.from(bytes).toString()}`;
    const wrong = wrongOutput(decodeNpz(bytes, { maxBytes: 2 ** 30 }), outputs, DEEP);
    if (wrong) return `${name} over ${transport}: ${wrong}`;
  }
  return undefined;
}

/** Strings of npz end at their last byte that is not 0, and these may be serialized records. */
function bodyOf(inputs: TensorMap): { readonly body: Uint8Array; readonly contentType: string } {
  if (Object.values(inputs).every(isNumeric)) {
    return { body: joined(encodeNpz(inputs)), contentType: 'application/x-npz' };
  }
  const columns = Object.entries(inputs).map(([name, tensor]) => {
    const json = joined(writeTensorJson(tensor, { name: 'of_bytes' }));
    return `${JSON.stringify(name)}:${Buffer.from(json).toString()}`;
  });
  return { body: Buffer.from(`{"inputs":{${columns}}}`), contentType: 'application/json' };
}

/** SavedModels and their answers. */
export const models: readonly Section[] = [
  {
    file: 'models',
    title:
      'SavedModels with lookup tables, control flow, ragged and sparse tensors, XLA, run by the C API',
    reference: 'TensorFlow',
    tolerance: 'floats within 1e-5, else every bit',
    differs: differsAsModel,
  },
  {
    file: 'foreign',
    title:
      "SavedModels of others' layers and exporters: basic-pitch, Keras's applications, its layers for text, lookups, ragged and sparse tensors, XLA; keras-tcn; TF-Slim's networks, several sets of tags, feature columns and loops as TensorFlow 1 exports them; by the runtime over gRPC, REST and in-process",
    reference: 'TensorFlow',
    tolerance: 'floats within 1e-4, below 0.1 within 1e-5',
    start: ({ out }) => serve(out),
    stop: async () => void (await Promise.all(serving.map((served) => served.stop()))),
    differs: differsAsServed,
  },
];
