/** What SageMaker refuses of serverless endpoints. */
import { excluding, type Problem } from '../problem.ts';

/** Requests that a serverless endpoint serves at once: default and most. */
export const SERVERLESS_CONCURRENCY = { default: 5, max: 200 } as const;

/** What only instances have, by its name in configurations and in props. */
const OF_INSTANCES = [
  'instanceType',
  'instanceTypes',
  'instancePools',
  'provisioningTimeout',
  'capacityReservationArn',
  'instanceCount',
  'scaling',
  'routing',
  'inferenceAmiVersion',
  'volumeSize',
  'volumeKey',
  'async',
  'asyncInference',
  'dataCapture',
  'dataCapturePercent',
  'deployment',
  'variants',
  'shadow',
  'shadowVariant',
];

/** Fields beside `serverless` that a serverless endpoint cannot have. */
export function serverlessProblem(given: object): Problem {
  return excluding('a serverless endpoint', OF_INSTANCES, given);
}

/** A model that is not an archive, where only archives can be. */
export function archiveProblem(what: string, compression: string | undefined): Problem {
  if (compression !== 'none') return undefined;
  return { problem: `${what} takes only archives`, fix: `Give the model compression: 'gzip'` };
}
