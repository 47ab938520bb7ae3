/** Parts of an endpoint that do not go together. */
import { hasGpu, mayHold, sizeOf } from '../instance-types/index.ts';
import { aboveProblem, type Problem, startProblem, twinIndex } from '../problem.ts';

/** A shadow that SageMaker does not take. @param variants production variants beside it */
export function shadowProblem(async: boolean, variants: number): Problem {
  if (async) {
    const problem = 'SageMaker copies only requests that it answers at once';
    return { problem, fix: 'Leave the shadow out, or make the endpoint answer at once' };
  }
  if (variants < 2) return undefined;
  const problem = `SageMaker takes one production variant beside a shadow, and there are ${variants}`;
  return { problem, fix: 'Give one production variant' };
}

/** Scaling of a shadow. */
export const SHADOW_SCALING = { problem: 'a shadow does not scale', fix: 'Leave it out' } as const;

/** Data capture of an asynchronous endpoint. */
export const ASYNC_CAPTURE = {
  problem: 'requests and answers of an asynchronous endpoint are in S3 anyway',
  fix: 'Leave it out',
} as const;

/** API Gateway in front of an asynchronous endpoint. */
export const ASYNC_API = {
  problem: 'an asynchronous endpoint answers through S3, and an API at once',
  fix: 'Make the endpoint answer at once, or leave the API out',
} as const;

/** Several models in a component. */
export const COMPONENT_OF_MANY = {
  problem: 'a component holds one model, and this data many',
  fix: 'Give each model a component',
} as const;

/** Several instance types of a variant, or a time for them, beside or without one another. */
export function typesProblem(
  type: string | undefined,
  types: readonly string[] | undefined,
  timeoutSeconds: number | undefined,
): readonly [of: 'types' | 'timeout', problem: Problem] | undefined {
  if (!types) {
    if (timeoutSeconds === undefined) return undefined;
    const problem = 'given without several instance types';
    return ['timeout', { problem, fix: 'Leave it out, or name several' }];
  }
  if (type !== undefined) {
    const problem = `given with 'instanceType'`;
    return ['types', { problem, fix: 'Leave one of the two out' }];
  }
  const twin = types[twinIndex(types)];
  if (twin === undefined) return undefined;
  return ['types', { problem: `${twin} is in the list twice`, fix: 'Name each type once' }];
}

/** The first component whose name another has, in any letter case. */
export function componentNameProblem(
  names: readonly string[],
): readonly [index: number, problem: Problem] | undefined {
  const twin = twinIndex(names.map((name) => name.toLowerCase()));
  if (twin < 0) return undefined;
  const problem = `'${names[twin]}' is used twice`;
  return [twin, { problem, fix: 'Give each component a name of its own' }];
}

/** Accelerators of a type that has none. */
export function acceleratorsProblem(instanceType: string): Problem {
  if (hasGpu(instanceType)) return undefined;
  return { problem: `${instanceType} has no accelerators`, fix: 'Leave it out, or use a GPU type' };
}

/**
 * What no instance can set aside for one copy of a component, with the field: SageMaker would look for room in vain, for the time
 * of a deployment.
 */
export function shareProblem(
  instanceType: string,
  {
    cpus = 0,
    memoryMiB = 0,
  }: { readonly cpus?: number | undefined; readonly memoryMiB?: number | undefined },
): readonly [field: 'cpus' | 'memory', problem: Problem] | undefined {
  const memoryGiB = memoryMiB / 1024;
  if (mayHold(instanceType, cpus, memoryGiB)) return undefined;
  const has = `${sizeOf(instanceType)}, some of it for the system`;
  return mayHold(instanceType, cpus, 0)
    ? [
        'memory',
        { problem: `${memoryMiB} MiB never fit: ${has}`, fix: 'Give less, or use a larger type' },
      ]
    : ['cpus', { problem: `${cpus} never fit: ${has}`, fix: 'Give fewer, or use a larger type' }];
}

/**
 * What Application Auto Scaling would refuse of a component's copies, with the field.
 * @see https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
 */
export function copiesProblem(
  copies: number | undefined,
  scaling: { readonly minCopies?: number | undefined; readonly maxCopies: number },
): readonly [field: string, problem: Problem] {
  const { minCopies = 1, maxCopies } = scaling;
  const above = aboveProblem(minCopies, 'maxCopies', maxCopies);
  return above
    ? ['scaling.minCopies', above]
    : ['copies', startProblem(copies, minCopies, maxCopies)];
}
