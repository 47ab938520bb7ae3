/** What SageMaker refuses of components only after minutes of deployment, refused at once. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { startTimes } from '../endpoint/start-times.ts';
import { DEFAULT_INSTANCE_TYPE } from '../endpoint/variant.ts';
import { MIN_COMPONENT } from '../rules/bounds.ts';
import {
  acceleratorsProblem,
  COMPONENT_OF_MANY,
  componentNameProblem,
  copiesProblem,
  shareProblem,
} from '../rules/combinations.ts';
import { checkInteger, checkOneOf, checkRange, invalidProp, refuseProblem } from '../validation.ts';
import type { ComponentEndpointProps, ComponentProps } from './props.ts';
import { checkUpdate } from './update.ts';

/**
 * Longest name of a component in the props: the endpoint's name stands before it.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
 */
export const MAX_COMPONENT_NAME = 22;
const TARGETS = ['invocationsPerMinute', 'concurrentRequests'];
const MAX = Number.MAX_SAFE_INTEGER;

/** Refuses components that no endpoint can have. */
export function checkComponents(scope: Construct, props: ComponentEndpointProps): void {
  const { components, instances, update } = props;
  if (components.length === 0) {
    invalidProp(scope, 'components', 'none given', 'Give at least one');
  }
  const [twin, named] = componentNameProblem(components.map(({ name }) => name)) ?? [];
  refuseProblem(scope, `components[${twin}].name`, named);
  components.forEach((component, i) => {
    const prop = `components[${i}]`;
    checkName(scope, `${prop}.name`, component.name, props.endpointName);
    checkComponent(scope, prop, component, instances.instanceType ?? DEFAULT_INSTANCE_TYPE);
  });
  const { minInstances, maxInstances } = instances;
  checkInteger(scope, 'instances.maxInstances', maxInstances, 1, MAX);
  checkInteger(scope, 'instances.minInstances', minInstances, 0, maxInstances);
  checkNetwork(scope, props);
  if (update) checkUpdate(scope, update, props.metricsConfig);
}

function checkName(scope: Construct, prop: string, name: string, endpointName = ''): void {
  const fix = `Use letters, digits and single hyphens, at most ${MAX_COMPONENT_NAME} characters`;
  if (!SAGEMAKER_NAME.test(name) || name.length > MAX_COMPONENT_NAME) {
    invalidProp(scope, prop, `'${name}' is not a name of a component`, fix);
  }
  if (Token.isUnresolved(endpointName)) return;
  const whole = `${endpointName}-${name}`;
  if (endpointName === '' || SAGEMAKER_NAME.test(whole)) return;
  const problem = `SageMaker's name of the component would be '${whole}'`;
  invalidProp(
    scope,
    prop,
    problem,
    'Use letters, digits and hyphens, at most 63 characters in all',
  );
}

function checkComponent(
  scope: Construct,
  prop: string,
  { model, memory, cpus, accelerators, copies, scaling, ...times }: ComponentProps,
  instanceType: string,
): void {
  if (model.data.multiModel) refuseProblem(scope, `${prop}.model`, COMPONENT_OF_MANY);
  checkRange(scope, `${prop}.memory`, memory?.toMebibytes(), MIN_COMPONENT.memoryMiB, MAX, 'MiB');
  checkRange(scope, `${prop}.cpus`, cpus, MIN_COMPONENT.cpus, MAX);
  checkInteger(scope, `${prop}.accelerators`, accelerators, 1, MAX);
  checkInteger(scope, `${prop}.copies`, copies, 0, MAX);
  startTimes(scope, prop, times);
  if (accelerators !== undefined && !Token.isUnresolved(instanceType)) {
    refuseProblem(scope, `${prop}.accelerators`, acceleratorsProblem(instanceType));
  }
  if (!Token.isUnresolved(instanceType) && !Token.isUnresolved(cpus)) {
    const [field, problem] =
      shareProblem(instanceType, { cpus, memoryMiB: memory?.toMebibytes() }) ?? [];
    refuseProblem(scope, `${prop}.${field}`, problem);
  }
  if (!scaling) return;
  checkInteger(scope, `${prop}.scaling.maxCopies`, scaling.maxCopies, 1, MAX);
  checkInteger(scope, `${prop}.scaling.minCopies`, scaling.minCopies, 0, MAX);
  checkOneOf(scope, `${prop}.scaling.target`, scaling.target, TARGETS);
  checkRange(scope, `${prop}.scaling.target`, Object.values(scaling.target)[0], 1e-3, MAX);
  const [field, problem] = copiesProblem(copies, scaling) ?? [];
  refuseProblem(scope, `${prop}.${field}`, problem);
}

/** Isolation and VPC are the endpoint's, for all of its containers. */
function checkNetwork(scope: Construct, { components, vpc }: ComponentEndpointProps): void {
  const isolated = new Set(components.map(({ model }) => model.networkIsolation));
  if (isolated.size > 1) {
    const problem = 'some models have network isolation and some have not';
    invalidProp(scope, 'components', problem, 'Give all models the same networkIsolation');
  }
  components.forEach(({ model }, i) => {
    if (model.inVpc === (vpc !== undefined)) return;
    const problem = model.inVpc
      ? 'it is in a VPC and the endpoint is not'
      : 'it is in no VPC and the endpoint is in one';
    invalidProp(scope, `components[${i}].model`, problem, 'Give both the same vpc');
  });
}
