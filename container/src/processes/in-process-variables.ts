/** The environment that a process needs from its start to run models itself. */
import { availableParallelism } from 'node:os';
import type { Environment } from '../environment.ts';
import { tensorFlowVariables } from '../model-server/tensorflow-variables.ts';

/** TensorFlow runs in threads of libuv, whose number is fixed before Node starts, and reads its own variables early. */
export function inProcessVariables({
  environment,
  variables,
}: {
  readonly environment: Environment;
  readonly variables: NodeJS.ProcessEnv;
}): Record<string, string> {
  if (environment.backend !== 'in-process') return {};
  const { batching } = environment.modelServer;
  // One run more than processors, so that none idles between two; and one thread for files and DNS.
  const runs = Math.max(availableParallelism(), batching?.threads ?? 0) + 1;
  return {
    UV_THREADPOOL_SIZE: variables.UV_THREADPOOL_SIZE ?? String(runs + 1),
    ...tensorFlowVariables(environment, variables),
  };
}
