/** The environment that a process needs from its start to run models itself. */
import { availableParallelism } from 'node:os';
import type { Environment } from '../environment.ts';
import { tensorFlowVariables } from '../model-server/tensorflow-variables.ts';

/** TensorFlow's own severities begin with 0. */
const FATAL_ONLY = '3';

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
    // It writes to stderr, past our log, and what it says of a request that fails holds that request's data.
    TF_CPP_MIN_LOG_LEVEL: variables.TF_CPP_MIN_LOG_LEVEL ?? FATAL_ONLY,
    ...tensorFlowVariables(environment, variables),
  };
}
