/** Rules of endpoints. */
import type { EndpointConfig } from '../config.ts';
import { aboveProblem, startProblem } from '../problem.ts';
import {
  ASYNC_API,
  ASYNC_CAPTURE,
  SHADOW_SCALING,
  shadowProblem,
  typesProblem,
} from '../rules/combinations.ts';
import {
  bakeProblem,
  DEFAULT_BAKE_SECONDS,
  deploymentTimeProblem,
  fleetProblem,
  rollbackAlarmsProblem,
  rollingProblem,
} from '../rules/deployment.ts';
import { metricPeriods, unwatchedProblem } from '../rules/metric-periods.ts';
import {
  burstableProblem,
  fewestAtAnyTime,
  scheduledLimitsProblem,
  sleepProblem,
  targetProblem,
} from '../rules/scaling-schedule.ts';
import { SERVERLESS_CONCURRENCY, serverlessProblem } from '../rules/serverless.ts';
import { API, each, eachVariant, GUIDE, type Rule } from './rule.ts';

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
      return ['deployment.traffic', fleetProblem(type, fewestInstances(endpoint))];
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
    id: 'an-update-is-watched',
    says: 'With enhanced metrics, requests are published at the frequency of the metrics. The alarms of an update need more than one publication of the new fleet.',
    source: `${API}/API_MetricsConfig.html`,
    check: each('endpoint', ({ deployment = {}, metrics, serverless, components }) => {
      const { traffic, bakeSeconds = DEFAULT_BAKE_SECONDS, modelLatencyP90Ms } = deployment;
      // Components are updated in batches, and watched, only with a traffic of their own.
      if (serverless || (components && traffic?.type !== 'rolling')) return undefined;
      const shift = traffic ?? { type: 'all-at-once' as const };
      const latency = modelLatencyP90Ms !== undefined;
      const problem = unwatchedProblem(shift, bakeSeconds, metricPeriods(metrics), latency);
      return ['metrics.frequencySeconds', problem];
    }),
  },
  {
    id: 'rolling-without-bake',
    says: 'A rolling deployment replaces instances in place, so there is no old fleet to keep for a while.',
    source: `${API}/API_DeploymentConfig.html`,
    check: each('endpoint', ({ deployment }) => {
      const { traffic, bakeSeconds } = deployment ?? {};
      return traffic && ['deployment.bakeSeconds', bakeProblem(traffic.type, bakeSeconds)];
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
      if (!scaling) return undefined;
      const { minInstances = 1, maxInstances } = scaling;
      return ['instanceCount', startProblem(instanceCount, minInstances, maxInstances)];
    }),
  },
  {
    id: 'sleep-needs-a-queue',
    says: 'Only an asynchronous endpoint scales to 0: a real-time request has no queue to wait in.',
    source: `${GUIDE}/async-inference-autoscale.html`,
    check: eachVariant(({ scaling, async }) => {
      return ['scaling.minInstances', sleepProblem(scaling?.minInstances ?? 1, async)];
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
      return scaling && ['scaling.target', targetProblem(scaling.target, async)];
    }),
  },
  {
    id: 'serverless-has-no-instances',
    says: 'Serverless endpoints have no instances, GPUs, autoscaling of instances, data capture, queue or traffic shifting.',
    source: `${GUIDE}/serverless-endpoints.html`,
    check: each('endpoint', ({ serverless, ...rest }) => {
      return serverless && ['serverless', serverlessProblem(rest)];
    }),
  },
  {
    id: 'instance-pools',
    says: 'A variant has one instance type, or a list of one to five different ones, and only a list has a time limit.',
    source: `${API}/API_ProductionVariant.html`,
    check: eachVariant(({ instanceType, instanceTypes, provisioningTimeoutSeconds }) => {
      const found = typesProblem(instanceType, instanceTypes, provisioningTimeoutSeconds);
      const field = found?.[0] === 'types' ? 'instanceTypes' : 'provisioningTimeoutSeconds';
      return found && [field, found[1]];
    }),
  },
  {
    id: 'rollback-alarms',
    says: 'At most 10 alarms roll an update back. Each variant of instances has one, or two with modelLatencyP90Ms.',
    source: `${API}/API_AutoRollbackConfig.html`,
    check: each('endpoint', ({ deployment, serverless, components, variants = [] }) => {
      if (serverless || components) return undefined;
      const watchesLatency = deployment?.modelLatencyP90Ms !== undefined;
      const alarms = Math.max(1, variants.length) * (watchesLatency ? 2 : 1);
      const field = watchesLatency ? 'deployment.modelLatencyP90Ms' : 'variants';
      return [field, rollbackAlarmsProblem(alarms, watchesLatency, 'modelLatencyP90Ms')];
    }),
  },
  {
    id: 'rolling-moves-one-variant',
    says: 'A rolling deployment is for endpoints with one variant.',
    source: `${GUIDE}/deployment-guardrails-exclusions.html`,
    check: each('endpoint', ({ deployment, variants = [] }) => {
      const type = deployment?.traffic?.type ?? 'all-at-once';
      return ['deployment.traffic', rollingProblem(type, variants.length)];
    }),
  },
  {
    id: 'one-variant-beside-a-shadow',
    says: 'A shadow stands beside one production variant of an endpoint that answers at once, and does not scale.',
    source: `${GUIDE}/model-shadow-deployment.html`,
    check: each('endpoint', ({ shadow, variants = [], async }) => {
      if (!shadow) return undefined;
      if (shadow.scaling) return ['shadow.scaling', SHADOW_SCALING];
      return ['shadow', shadowProblem(async, variants.length)];
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
      const above = aboveProblem(provisionedConcurrency, 'maxConcurrency', maxConcurrency);
      return ['serverless.provisionedConcurrency', above];
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
      return async && api ? ['api', ASYNC_API] : undefined;
    }),
  },
  {
    id: 'capture-is-for-real-time',
    says: 'Data capture works on real-time endpoints only. Requests and answers of asynchronous endpoints are in S3 anyway.',
    source: `${GUIDE}/model-monitor-data-capture-endpoint.html`,
    check: each('endpoint', ({ async, dataCapturePercent }) => {
      if (!async || dataCapturePercent === undefined) return undefined;
      return ['dataCapturePercent', ASYNC_CAPTURE];
    }),
  },
];
