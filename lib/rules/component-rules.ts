/** Rules of inference components. */
import { hasGpu } from '../instance-types/index.ts';
import { copiesProblem } from './limits.ts';
import { API, at, each, GUIDE, type Rule } from './rule.ts';

export const COMPONENT_RULES: readonly Rule[] = [
  {
    id: 'components-have-instances',
    says: 'Inference components run on the instances of one production variant of a real-time endpoint, and that variant has no model.',
    source: `${GUIDE}/realtime-endpoints-deploy-models.html`,
    check: each('endpoint', ({ components, async, ...rest }) => {
      if (!components) return undefined;
      const fields = ['serverless', 'variants', 'shadow'] as const;
      const other = async ? 'async' : fields.find((field) => rest[field] !== undefined);
      if (!other) return undefined;
      const problem = `an endpoint of components cannot have '${other}'`;
      return ['components', { problem, fix: 'Leave one of the two out' }];
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
          multiModel !== undefined && endpoint?.components
            ? { problem: `given with 'components'`, fix: 'Give each model a component' }
            : undefined,
        ),
      ),
  },
  {
    id: 'names-of-components',
    says: 'An inference component has a name that no other has.',
    source: `${API}/API_CreateInferenceComponent.html`,
    check: each('endpoint', ({ components = [] }) => {
      const names = components.map(({ name }) => name);
      const twin = names.findIndex((name, i) => names.indexOf(name) < i);
      if (twin < 0) return undefined;
      const problem = `'${names[twin]}' is used twice`;
      return [`components[${twin}].name`, { problem, fix: 'Give each a name of its own' }];
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
        if (found) return [`components[${i}].${found[0]}`, found[1]];
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
      if (minInstances <= maxInstances) return undefined;
      const problem = `${minInstances} is more than maxInstances, ${maxInstances}`;
      return ['managedInstances.minInstances', { problem, fix: 'Give no more than that' }];
    }),
  },
  {
    id: 'accelerators-of-a-component',
    says: 'An inference component has whole accelerators, of an instance that has some.',
    source: `${API}/API_InferenceComponentComputeResourceRequirements.html`,
    check: each('endpoint', ({ components = [], instanceType }) => {
      const index = components.findIndex(({ accelerators }) => accelerators !== undefined);
      // The default type has a GPU.
      if (index < 0 || instanceType === undefined || hasGpu(instanceType)) return undefined;
      const problem = `${instanceType} has no accelerators`;
      const fix = 'Leave it out, or use a GPU type';
      return [`components[${index}].accelerators`, { problem, fix }];
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
