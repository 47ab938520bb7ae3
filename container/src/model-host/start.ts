/** Starts whatever runs the models: TensorFlow Serving, or TensorFlow in this process. */
import { modelServerBackends } from '../backends/backends.ts';
import { connectModelServer, startModelServer } from '../model-server/start.ts';
import type { ModelHost, ModelHostOptions } from './model-host.ts';

/** Starts what `SAGEMAKER_TFS_BACKEND` names; returns before the models are loaded. */
export async function startModelHost(options: ModelHostOptions): Promise<ModelHost> {
  const { environment } = options;
  if (environment.backend === 'in-process') {
    // Only then, because the images with TensorFlow Serving hold no library of TensorFlow.
    const { startInProcessHost } = await import('./in-process.ts');
    return startInProcessHost(options);
  }
  const modelServer = options.sharesModelServer
    ? connectModelServer(options)
    : await startModelServer(options);
  options.hearEnds?.(modelServer.pool);
  let served = options.models;
  return {
    readiness: modelServer.pool,
    backends: modelServerBackends(environment, modelServer.pool, () => served, options.listeners),
    endpoint: modelServer.pool.instances[0]?.endpoint,
    get refusals() {
      return modelServer.pool.refusals;
    },
    get modelServerEnds() {
      return modelServer.pool.ends;
    },
    failed: modelServer.failed,
    async serve(models) {
      let list = served;
      await modelServer.serve(() => {
        list = models();
        return list;
      });
      served = list;
    },
    stop: (mostMs) => modelServer.stop(mostMs),
  };
}
