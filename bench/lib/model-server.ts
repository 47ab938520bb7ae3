/** The model server alone with a real model, as the runtime starts it. */
import { join } from 'node:path';
import { chooseModelServer, freePort } from 'sagemaker-tfs/development/serving';
import { answering, endChild, startChild } from '../../tools/children.ts';
import { processTree } from '../../tools/process-stats.ts';
import type { FrontEnd } from './front-ends.ts';
import { type BenchModel, ensureModel } from './models.ts';

/** Starts it; `url` is its REST API. */
export async function startModelServer(model: BenchModel): Promise<FrontEnd> {
  const { program, environment } = await chooseModelServer();
  const base = join(await ensureModel(model), 'model');
  const [port, restPort] = [await freePort(), await freePort()];
  const flags = [
    `--port=${port}`,
    `--rest_api_port=${restPort}`,
    '--model_name=model',
    `--model_base_path=${base}`,
  ];
  const child = startChild(program, flags, {
    stdio: 'ignore',
    env: { ...process.env, OMP_NUM_THREADS: '1', ...environment },
  });
  const url = `http://127.0.0.1:${restPort}`;
  await answering(`${url}/v1/models/model`, child);
  const pids = () => processTree(child.pid as number);
  return {
    url,
    path: '/v1/models/model:predict',
    pids,
    allPids: pids,
    stop: () => endChild(child),
  };
}
