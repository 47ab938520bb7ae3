/** Rules of endpoints. */
import type { EndpointConfig } from '../config.ts';
import {
  burstableProblem,
  DEFAULT_BAKE_SECONDS,
  deploymentTimeProblem,
  SERVERLESS_CONCURRENCY,
  TRAFFIC_SHARES,
} from './limits.ts';
import { API, each, eachVariant, GUIDE, type Rule } from './rule.ts';
import { fewestAtAnyTime, scheduledLimitsProblem } from './scaling-schedule.ts';

/** Instances when autoscaling has taken away what it may. */
function fewestInstances({ instanceCount = 1, scaling }: EndpointConfig): number {
  if (!scaling) return instanceCount;
  return fewestAtAnyTime(scaling);
}

export const ENDPOINT_RULES: readonly Rule[] = [
  {
    id: 'part-of-a-fleet',
    says: 'Canary, linear and rolling deployments move at most half of a fleet at a time. So a fleet needs two instances, also at the minimum of autoscaling.',
    source: `${API}/API_TrafficRoutingConfig.html`,
    check: eachVariant((endpoint, { isShadow }) => {
      if (isShadow || endpoint.components) return undefined;
      const type = endpoint.deployment?.traffic?.type ?? 'all-at-once';
      if (type === 'all-at-once' || fewestInstances(endpoint) >= 2) return undefined;
      const field = endpoint.scaling ? 'scaling.minInstances' : 'instanceCount';
      return [
        'deployment.traffic',
        {
          problem: `'${type}' moves part of a fleet, and there can be one instance`,
          fix: `Give ${field} 2 or more, or use { type: 'all-at-once' }`,
        },
      ];
    }),
  },
  {
    id: 'step-of-a-shift',
    says: 'A step of a deployment is at most 50% of the fleet, and at least 10% (linear) or 5% (rolling).',
    source: `${API}/API_RollingUpdatePolicy.html`,
    check: each('endpoint', ({ deployment }) => {
      const traffic = deployment?.traffic;
      if (!traffic || traffic.type === 'all-at-once') return undefined;
      const [least, most] = TRAFFIC_SHARES[traffic.type];
      if (traffic.percent >= least) return undefined;
      const problem = `${traffic.percent} is too small for '${traffic.type}'`;
      return ['deployment.traffic.percent', { problem, fix: `Give ${least} to ${most}` }];
    }),
  },
  {
    id: 'time-of-a-deployment',
    says: 'All waits of a deployment together are shorter than its time limit, which is at most 8 hours.',
    source: `${API}/API_BlueGreenUpdatePolicy.html`,
    check: each('endpoint', ({ deployment }) => {
      if (!deployment) return undefined;
      const { traffic = { type: 'all-at-once' as const }, bakeSeconds = DEFAULT_BAKE_SECONDS } =
        deployment;
      return ['deployment.traffic', deploymentTimeProblem(traffic, bakeSeconds)];
    }),
  },
  {
    id: 'rolling-without-bake',
    says: 'A rolling deployment replaces instances in place, so there is no old fleet to keep for a while.',
    source: `${API}/API_DeploymentConfig.html`,
    check: each('endpoint', ({ deployment }) => {
      if (deployment?.traffic?.type !== 'rolling' || deployment.bakeSeconds === undefined) return;
      const problem = `given with 'rolling'`;
      return ['deployment.bakeSeconds', { problem, fix: 'Leave it out' }];
    }),
  },
  {
    id: 'burstable-types-do-not-scale',
    says: 'Automatic scaling does not support burstable instances such as T2.',
    source: `${GUIDE}/endpoint-auto-scaling.html`,
    check: eachVariant(({ scaling, instanceType = '', instanceTypes = [instanceType] }) => {
      return scaling && ['scaling', burstableProblem(instanceTypes)];
    }),
  },
  {
    id: 'instances-to-start-with',
    says: 'The initial number of instances lies between the minimum and the maximum of autoscaling.',
    source: `${GUIDE}/endpoint-auto-scaling-prerequisites.html`,
    check: eachVariant(({ scaling, instanceCount }) => {
      if (!scaling || instanceCount === undefined) return undefined;
      const { minInstances = 1, maxInstances } = scaling;
      if (instanceCount >= minInstances && instanceCount <= maxInstances) return undefined;
      const problem = `${instanceCount}, and scaling keeps ${minInstances} to ${maxInstances}`;
      return ['instanceCount', { problem, fix: 'Give a number between them, or leave it out' }];
    }),
  },
  {
    id: 'sleep-needs-a-queue',
    says: 'Only an asynchronous endpoint scales to 0: a real-time request has no queue to wait in.',
    source: `${GUIDE}/async-inference-autoscale.html`,
    check: eachVariant(({ scaling, async }) => {
      if (scaling?.minInstances !== 0 || async) return undefined;
      const problem = '0 is for asynchronous endpoints';
      return ['scaling.minInstances', { problem, fix: `Give 1 or more, or 'async: true'` }];
    }),
  },
  {
    id: 'limits-by-the-clock',
    says: 'A scheduled action has a cron expression of six fields or one point in time, an IANA time zone, and limits that the endpoint may have.',
    source:
      'https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html',
    check: eachVariant(({ scaling, async }) => {
      for (const [i, entry] of (scaling?.schedule ?? []).entries()) {
        const found = scaling && scheduledLimitsProblem(entry, scaling, async);
        if (found) return [`scaling.schedule[${i}].${found[0]}`, found[1]];
      }
      return undefined;
    }),
  },
  {
    id: 'backlog-is-of-a-queue',
    says: 'An asynchronous endpoint scales on its backlog; a real-time one has none.',
    source: `${GUIDE}/async-inference-autoscale.html`,
    check: eachVariant(({ scaling, async }) => {
      if (!scaling || 'backlog' in scaling.target === async) return undefined;
      return [
        'scaling.target',
        async
          ? { problem: 'an asynchronous endpoint scales on its queue', fix: 'Give { backlog: N }' }
          : {
              problem: `'backlog' needs a queue`,
              fix: `Give concurrentRequests, or 'async: true'`,
            },
      ];
    }),
  },
  {
    id: 'serverless-has-no-instances',
    says: 'Serverless endpoints have no instances, GPUs, autoscaling of instances, data capture, queue or traffic shifting.',
    source: `${GUIDE}/serverless-endpoints.html`,
    check: each('endpoint', ({ serverless, async, ...rest }) => {
      if (!serverless) return undefined;
      const fields = [
        'instanceType',
        'instanceTypes',
        'capacityReservationArn',
        'instanceCount',
        'scaling',
        'inferenceAmiVersion',
        'dataCapturePercent',
        'deployment',
        'variants',
        'shadow',
      ] as const;
      const other = async ? 'async' : fields.find((field) => rest[field] !== undefined);
      if (!other) return undefined;
      const problem = `a serverless endpoint cannot have '${other}'`;
      return ['serverless', { problem, fix: 'Leave one of the two out' }];
    }),
  },
  {
    id: 'instance-pools',
    says: 'A variant has one instance type, or a list of one to five different ones, and only a list has a time limit.',
    source: `${API}/API_ProductionVariant.html`,
    check: eachVariant(({ instanceType, instanceTypes, provisioningTimeoutSeconds }) => {
      if (!instanceTypes) {
        if (provisioningTimeoutSeconds === undefined) return undefined;
        const problem = `given without 'instanceTypes'`;
        return ['provisioningTimeoutSeconds', { problem, fix: 'Leave it out, or give a list' }];
      }
      if (instanceType !== undefined) {
        const problem = `given with 'instanceType'`;
        return ['instanceTypes', { problem, fix: 'Leave out one of the two' }];
      }
      const twin = instanceTypes.find((type, i) => instanceTypes.indexOf(type) < i);
      if (twin === undefined) return undefined;
      const problem = `${twin} is in the list twice`;
      return ['instanceTypes', { problem, fix: 'Name each type once' }];
    }),
  },
  {
    id: 'rolling-moves-one-variant',
    says: 'A rolling deployment is for endpoints with one variant.',
    source: `${GUIDE}/deployment-guardrails-exclusions.html`,
    check: each('endpoint', ({ deployment, variants = [] }) => {
      if (deployment?.traffic?.type !== 'rolling' || variants.length < 2) return undefined;
      const problem = `'rolling' with ${variants.length} variants`;
      return ['deployment.traffic', { problem, fix: 'Use canary, linear or all-at-once' }];
    }),
  },
  {
    id: 'one-variant-beside-a-shadow',
    says: 'A shadow stands beside one production variant of an endpoint that answers at once, and does not scale.',
    source: `${GUIDE}/model-shadow-deployment.html`,
    check: each('endpoint', ({ shadow, variants = [], async }) => {
      if (!shadow) return undefined;
      if (shadow.scaling) {
        return ['shadow.scaling', { problem: 'a shadow does not scale', fix: 'Leave it out' }];
      }
      if (async) {
        const problem = `given with 'async'`;
        return ['shadow', { problem, fix: 'Leave one of the two out' }];
      }
      if (variants.length < 2) return undefined;
      const problem = `given beside ${variants.length} variants`;
      return ['shadow', { problem, fix: 'Give one production variant' }];
    }),
  },
  {
    id: 'serverless-concurrency',
    says: 'A serverless endpoint serves at most 200 requests at once. Its provisioned concurrency is no higher than that maximum.',
    source: `${API}/API_ProductionVariantServerlessConfig.html`,
    check: each('endpoint', ({ serverless }) => {
      if (!serverless) return undefined;
      const { default: usual, max } = SERVERLESS_CONCURRENCY;
      const { maxConcurrency = usual, provisionedConcurrency = 1 } = serverless;
      if (maxConcurrency > max) {
        const problem = `${maxConcurrency} is out of range`;
        return ['serverless.maxConcurrency', { problem, fix: `Give 1 to ${max}` }];
      }
      if (provisionedConcurrency <= maxConcurrency) return undefined;
      const problem = `${provisionedConcurrency} is more than maxConcurrency, ${maxConcurrency}`;
      return ['serverless.provisionedConcurrency', { problem, fix: 'Give no more than that' }];
    }),
  },
  {
    id: 'serverless-starts-in-three-minutes',
    says: 'A serverless container downloads its model and answers /ping within 3 minutes.',
    source: `${GUIDE}/serverless-endpoints.html`,
    check: each('endpoint', (endpoint) => {
      if (!endpoint.serverless) return undefined;
      const fields = ['startupTimeoutSeconds', 'modelDataDownloadTimeoutSeconds'] as const;
      const long = fields.find((field) => (endpoint[field] ?? 0) > 180);
      if (!long) return undefined;
      const problem = `${endpoint[long]} seconds, and SageMaker ends a serverless start after 180`;
      return [long, { problem, fix: 'Leave it out, or use instances for a model of that size' }];
    }),
  },
  {
    id: 'api-answers-at-once',
    says: 'An asynchronous endpoint takes requests through S3 only, and API Gateway waits for an answer.',
    source: `${GUIDE}/async-inference.html`,
    check: each('endpoint', ({ async, api }) => {
      if (!async || !api) return undefined;
      const problem = `given with 'async'`;
      return ['api', { problem, fix: 'Leave one of the two out' }];
    }),
  },
  {
    id: 'capture-is-for-real-time',
    says: 'Data capture works on real-time endpoints only. Requests and answers of asynchronous endpoints are in S3 anyway.',
    source: `${GUIDE}/model-monitor-data-capture-endpoint.html`,
    check: each('endpoint', ({ async, dataCapturePercent }) => {
      if (!async || dataCapturePercent === undefined) return undefined;
      return ['dataCapturePercent', { problem: `given with 'async'`, fix: 'Leave it out' }];
    }),
  },
];
