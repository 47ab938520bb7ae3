/** Rules of inference components. */

import { aboveProblem, excluding } from '../problem.ts';
import {
  acceleratorsProblem,
  COMPONENT_OF_MANY,
  componentNameProblem,
  copiesProblem,
  shareProblem,
} from '../rules/combinations.ts';
import { API, at, each, GUIDE, type Rule } from './rule.ts';

export const COMPONENT_RULES: readonly Rule[] = [
  {
    id: 'components-have-instances',
    says: 'Inference components run on the instances of one production variant of a real-time endpoint, and that variant has no model.',
    source: `${GUIDE}/realtime-endpoints-deploy-models.html`,
    check: each('endpoint', ({ components, ...rest }) => {
      const others = ['async', 'serverless', 'variants', 'shadow'];
      return components && ['components', excluding('an endpoint of components', others, rest)];
    }),
  },
  {
    id: 'a-component-holds-one-model',
    says: 'An inference component contains one model: multi-model data cannot be shared out.',
    source: `${API}/API_CreateInferenceComponent.html`,
    check: ({ models }) =>
      Object.entries(models).flatMap(([name, { multiModel, endpoint }]) =>
        at(
          `models.${name}.multiModel`,
          multiModel !== undefined && endpoint?.components ? COMPONENT_OF_MANY : undefined,
        ),
      ),
  },
  {
    id: 'names-of-components',
    says: 'An inference component has a name that no other has.',
    source: `${API}/API_CreateInferenceComponent.html`,
    check: each('endpoint', ({ components = [] }) => {
      const found = componentNameProblem(components.map(({ name }) => name));
      return found && [`components[${found[0]}].name`, found[1]];
    }),
  },
  {
    id: 'copies-of-a-component',
    says: 'The copies of an inference component lie between the minimum and the maximum of its autoscaling.',
    source:
      'https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html',
    check: each('endpoint', ({ components = [] }) => {
      for (const [i, { copies, scaling }] of components.entries()) {
        const found = scaling && copiesProblem(copies, scaling);
        if (found?.[1]) return [`components[${i}].${found[0]}`, found[1]];
      }
      return undefined;
    }),
  },
  {
    id: 'managed-instances',
    says: 'The fewest instances that SageMaker keeps for components are no more than the most.',
    source: `${API}/API_ProductionVariantManagedInstanceScaling.html`,
    check: each('endpoint', ({ managedInstances }) => {
      const { minInstances = 0, maxInstances = minInstances } = managedInstances ?? {};
      const above = aboveProblem(minInstances, 'maxInstances', maxInstances);
      return ['managedInstances.minInstances', above];
    }),
  },
  {
    id: 'accelerators-of-a-component',
    says: 'An inference component has whole accelerators, of an instance that has some.',
    source: `${API}/API_InferenceComponentComputeResourceRequirements.html`,
    check: each('endpoint', ({ components = [], instanceType }) => {
      const index = components.findIndex(({ accelerators }) => accelerators !== undefined);
      // The default type has a GPU.
      if (index < 0 || instanceType === undefined) return undefined;
      return [`components[${index}].accelerators`, acceleratorsProblem(instanceType)];
    }),
  },
  {
    id: 'share-of-a-component',
    says: 'An inference component takes no more vCPUs and memory than an instance has.',
    source: `${API}/API_InferenceComponentComputeResourceRequirements.html`,
    check: each('endpoint', ({ components = [], instanceType }) => {
      if (instanceType === undefined) return undefined;
      for (const [i, component] of components.entries()) {
        const found = shareProblem(instanceType, component);
        const field = found?.[0] === 'memory' ? 'memoryMiB' : 'cpus';
        if (found) return [`components[${i}].${field}`, found[1]];
      }
      return undefined;
    }),
  },
  {
    id: 'components-are-updated-in-batches',
    says: 'An update of an inference component replaces 5% to 50% of its copies at a time, with a wait after each batch.',
    source: `${API}/API_InferenceComponentRollingUpdatePolicy.html`,
    check: each('endpoint', ({ components, deployment }) => {
      if (!components || !deployment) return undefined;
      const { traffic, modelLatencyP90Ms } = deployment;
      if (modelLatencyP90Ms !== undefined) {
        const problem = 'components are rolled back by their 5xx answers';
        return ['deployment.modelLatencyP90Ms', { problem, fix: 'Leave it out' }];
      }
      if (traffic?.type === 'rolling') return undefined;
      const problem = `'${traffic?.type ?? 'all-at-once'}' is for endpoints without components`;
      const fix = `Use { type: 'rolling', percent, waitSeconds }`;
      return ['deployment.traffic', { problem, fix }];
    }),
  },
];
