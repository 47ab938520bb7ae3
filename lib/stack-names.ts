/** Names of the stacks of a configuration. */
export const STACK_NAMES = {
  image: (project: string) => `${project}-image`,
  endpoint: (project: string, model: string) => `${project}-${model}`,
  batch: (project: string, model: string) => `${project}-${model}-batch`,
  batchWorker: (project: string, model: string) => `${project}-${model}-batch-worker`,
  registry: (project: string) => `${project}-registry`,
} as const;
