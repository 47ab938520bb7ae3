/** Alarms see what SageMaker publishes, however rarely: every alarm of endpoints, on points that always breach. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import {
  ComponentEndpoint,
  ComponentMonitoring,
  EndpointMonitoring,
  ModelData,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
} from '../../lib/index.ts';
import { existingImage, testModel, testStack } from '../support/stacks.ts';

type MetricsConfig = NonNullable<RealtimeEndpointProps['metricsConfig']>;

interface Stat {
  readonly Metric: { readonly MetricName: string; readonly Namespace: string };
  readonly Period: number;
}

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly MetricName?: string;
  readonly Namespace?: string;
  readonly Period?: number;
  readonly EvaluationPeriods: number;
  readonly Metrics?: readonly { readonly MetricStat?: Stat }[];
}

/** Endpoints with all of their alarms. */
const ENDPOINTS: Readonly<Record<string, (stack: Stack, metricsConfig: MetricsConfig) => void>> = {
  'real-time': (stack, metricsConfig) => {
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack) }],
      deployment: { bakeTime: Duration.hours(1), modelLatencyP90: Duration.millis(200) },
      metricsConfig,
    });
    new EndpointMonitoring(stack, 'Monitoring', { endpoint });
  },
  asynchronous: (stack, metricsConfig) => {
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack) }],
      asyncInference: { outputBucket: Bucket.fromBucketName(stack, 'Bucket', 'data') },
      deployment: { bakeTime: Duration.hours(1) },
      metricsConfig,
    });
    new EndpointMonitoring(stack, 'Monitoring', { endpoint });
  },
  components: (stack, metricsConfig) => {
    const model = testModel(stack, { image: existingImage({ variant: 'cpu' }) });
    const endpoint = new ComponentEndpoint(stack, 'Endpoint', {
      components: [{ name: 'a', model }],
      instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 3 },
      update: { percent: 25, wait: Duration.minutes(10) },
      metricsConfig,
    });
    new ComponentMonitoring(stack, 'Monitoring', { endpoint });
  },
};

function alarmsOf(stack: Stack): AlarmProperties[] {
  return Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => Properties as AlarmProperties,
  );
}

function statsOf({ Metrics = [], MetricName, Namespace, Period }: AlarmProperties): Stat[] {
  if (MetricName && Namespace && Period) return [{ Metric: { MetricName, Namespace }, Period }];
  return Metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
}

/**
 * Seconds between two points.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html
 */
function publication({ Metric: { MetricName, Namespace } }: Stat, config: MetricsConfig): number {
  const { enhanced, frequencySeconds = 60 } = config;
  // The queue's are no metrics of invocations.
  if (Namespace === 'AWS/SageMaker' && (!enhanced || /Backlog|OldestRequest/.test(MetricName))) {
    return 60;
  }
  return frequencySeconds;
}

/** Whether some points in a row, one in each period, are as many as the alarm asks for; periods without a point are no breach. */
function sounds(alarm: AlarmProperties, config: MetricsConfig): boolean {
  return statsOf(alarm).every((stat) => {
    const seconds = publication(stat, config);
    const points = Array.from({ length: 7200 / seconds }, (_, i) => 7 + i * seconds);
    const periods = new Set(points.map((time) => Math.floor(time / stat.Period)));
    const first = [...periods].find((start) =>
      Array.from({ length: alarm.EvaluationPeriods }, (_, i) => start + i).every((period) =>
        periods.has(period),
      ),
    );
    return first !== undefined;
  });
}

const FREQUENCIES = [undefined, 10, 30, 60, 120, 180, 240, 300];

describe.each(Object.keys(ENDPOINTS))('%s', (kind) => {
  test.each([false, true])('every alarm sounds at every frequency, enhanced: %s', (enhanced) => {
    for (const frequencySeconds of FREQUENCIES) {
      const config = { enhanced, ...(frequencySeconds !== undefined && { frequencySeconds }) };
      const stack = testStack();
      ENDPOINTS[kind]?.(stack, config);
      const all = alarmsOf(stack);
      expect(all.length).toBeGreaterThan(2);
      const silent = all.filter((alarm) => !sounds(alarm, config));
      expect({ config, silent: silent.map((alarm) => alarm.AlarmDescription) }).toEqual({
        config,
        silent: [],
      });
    }
  });
});

test('without a frequency the periods are minutes', () => {
  const stack = testStack();
  ENDPOINTS['real-time']?.(stack, { enhanced: true });
  const short = alarmsOf(stack)
    .filter(({ Period }) => Period !== undefined)
    .map(({ MetricName, Period, EvaluationPeriods }) => [MetricName, Period, EvaluationPeriods]);
  expect(short.sort()).toEqual([
    ['DiskUtilization', 60, 5],
    ['Invocation5XXErrors', 60, 1],
    ['MemoryUtilization', 60, 5],
    ['ModelLatency', 60, 3],
    ['ModelLatency', 60, 5],
  ]);
});

describe('an update that ends before its alarms have seen it', () => {
  const deploy = (config: MetricsConfig, deployment?: RealtimeEndpointProps['deployment']) => {
    const stack = testStack();
    new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack), instanceCount: 4 }],
      metricsConfig: config,
      ...(deployment && { deployment }),
    });
  };
  const enhanced = true;
  const rare = { enhanced, frequencySeconds: 300 };
  const rolling = (minutes: number) => ({
    traffic: { type: 'rolling', percent: 25, wait: Duration.minutes(minutes) } as const,
  });

  test.each<[string, MetricsConfig, RealtimeEndpointProps['deployment']]>([
    ['as long as the default bake', rare, undefined],
    ['with a short bake', rare, { bakeTime: Duration.minutes(9) }],
    [
      'with latency',
      { enhanced, frequencySeconds: 120 },
      { modelLatencyP90: Duration.millis(200) },
    ],
    ['in short steps', rare, rolling(2)],
  ])('is refused: %s', (_, config, deployment) => {
    expect(() => deploy(config, deployment)).toThrow(/metricsConfig\.frequencySeconds: .*watched/);
  });

  test.each<[string, MetricsConfig, RealtimeEndpointProps['deployment']]>([
    ['requests are published each minute', { frequencySeconds: 300 }, undefined],
    ['often enough', { enhanced, frequencySeconds: 120 }, undefined],
    ['a long bake', rare, { bakeTime: Duration.minutes(10) }],
    ['long steps', rare, rolling(5)],
  ])('is taken: %s', (_, config, deployment) => {
    expect(() => deploy(config, deployment)).not.toThrow();
  });

  test('is refused of components', () => {
    const stack = testStack();
    const model = testModel(stack, { image: existingImage({ variant: 'cpu' }) });
    const make = () =>
      new ComponentEndpoint(stack, 'Endpoint', {
        components: [{ name: 'a', model }],
        instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 3 },
        update: { percent: 50, wait: Duration.minutes(2) },
        metricsConfig: rare,
      });
    expect(make).toThrow(/metricsConfig\.frequencySeconds: .*watched/);
  });
});

describe('scaling on requests that are published rarely is warned of', () => {
  const scaling = { maxInstances: 4, target: { concurrentRequests: 4 } };
  test.each<[MetricsConfig, number]>([
    [{ enhanced: true, frequencySeconds: 120 }, 1],
    [{ enhanced: true, frequencySeconds: 10 }, 0],
    [{ frequencySeconds: 300 }, 0],
  ])('%j', (metricsConfig, count) => {
    const stack = testStack();
    new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack), scaling }],
      metricsConfig,
    });
    const model = testModel(stack, { image: existingImage({ variant: 'cpu' }) }, 'Shared');
    new ComponentEndpoint(stack, 'Components', {
      components: [{ name: 'a', model, scaling: { maxCopies: 4, target: scaling.target } }],
      instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 3 },
      metricsConfig,
    });
    const says = Match.stringLikeRegexp('Application Auto Scaling looks at each minute');
    for (const id of ['Endpoint', 'Components']) {
      const found = Annotations.fromStack(stack).findWarning(`/Test/${id}`, says);
      expect(found).toHaveLength(count);
    }
  });
});

test('memory and disk of multi-model data may be full', () => {
  const stack = testStack();
  const models = Bucket.fromBucketName(stack, 'Models', 'models');
  const model = testModel(stack, {
    image: existingImage({ variant: 'cpu' }),
    modelData: ModelData.multiModel(models, 'm/'),
  });
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.c6i.2xlarge' }],
  });
  new EndpointMonitoring(stack, 'Monitoring', { endpoint });
  const names = alarmsOf(stack).map(({ MetricName }) => MetricName);
  expect(names).toContain('ModelLatency');
  expect(names).not.toContain('MemoryUtilization');
  expect(names).not.toContain('DiskUtilization');
});
