/** What is set and not read. */
import { distance } from 'fastest-levenshtein';
import {
  ENVIRONMENT_VARIABLES,
  RETIRED_VARIABLES,
  type VariableName,
} from '../environment-variables.ts';
import type { Environment } from './settings.ts';
import type { Variables } from './values.ts';

/** Names that look like ours, and values without effect, each with advice. */
export function warningsOf(variables: Variables, environment: Environment): string[] {
  return [...unknownNames(variables), ...unreadValues(variables, environment)];
}

function unknownNames(variables: Variables): string[] {
  const known = new Set<string>(ENVIRONMENT_VARIABLES.map(({ name }) => name));
  return Object.keys(variables)
    .filter((name) => /^SAGEMAKER_(TFS|GUNICORN)_/.test(name) && !known.has(name))
    .map((name) => {
      const gunicorn = name.startsWith('SAGEMAKER_GUNICORN_') ? 'there is no gunicorn' : undefined;
      const retired = RETIRED_VARIABLES[name] ?? gunicorn;
      if (retired) return `${name} is ignored: ${retired}`;
      return `${name} is not a variable of this runtime and is ignored. Did you mean ${nearest(name)}?`;
    });
}

/** Whose values nothing reads where batching is off. */
const OF_BATCHING = [
  'SAGEMAKER_TFS_MAX_BATCH_SIZE',
  'SAGEMAKER_TFS_MAX_ROWS',
  'SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS',
  'SAGEMAKER_TFS_ALLOWED_BATCH_SIZES',
  'SAGEMAKER_TFS_NUM_BATCH_THREADS',
  'SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES',
  'SAGEMAKER_TFS_BATCH_PADDING',
] as const satisfies readonly VariableName[];

function unreadValues(variables: Variables, { modelServer }: Environment): string[] {
  if (modelServer.batching) return [];
  return OF_BATCHING.filter((name) => variables[name]?.trim()).map(
    (name) =>
      `${name} is ignored: it is about the batches of SAGEMAKER_TFS_ENABLE_BATCHING, which is not true`,
  );
}

function nearest(name: string): VariableName {
  return ENVIRONMENT_VARIABLES.reduce((best, candidate) =>
    misspelling(name, candidate.name) < misspelling(name, best.name) ? candidate : best,
  ).name;
}

/** Edits between the names; a name that only lacks its ending (its unit) is nearer than any other. */
function misspelling(name: string, candidate: string): number {
  return candidate.startsWith(name) ? 0 : distance(name, candidate);
}
