/** Alarms on sample data: their own math, evaluated. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { type AlarmThresholds, EndpointMonitoring, RealtimeEndpoint } from '../../lib/index.ts';
import { testModel, testStack } from '../support/stacks.ts';

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly Threshold: number;
  readonly MetricName?: string;
  readonly Metrics?: readonly { readonly Expression?: string }[];
}

/** The alarms of an endpoint, by their descriptions. */
function alarms(kind: 'real-time' | 'async' = 'real-time', thresholds: AlarmThresholds = {}) {
  const stack = testStack();
  const outputBucket: IBucket = Bucket.fromBucketName(stack, 'Bucket', 'data');
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
    ...(kind === 'async' && { asyncInference: { outputBucket } }),
  });
  new EndpointMonitoring(stack, 'Monitoring', { endpoint, thresholds });
  const resources = Object.values(
    Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm'),
  );
  const all = resources.map(({ Properties }) => Properties as AlarmProperties);
  return (text: string): AlarmProperties => {
    const found = all.find(({ AlarmDescription }) =>
      AlarmDescription.startsWith(`Variant AllTraffic ${text}`),
    );
    if (!found) throw new Error(`no alarm '${text}'`);
    return found;
  };
}

/**
 * Whether a share alarm sounds. Its expression has CloudWatch's IF and OR, and numbers.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function sounds({ Metrics = [], Threshold }: AlarmProperties, errors: number, requests: number) {
  const expression = Metrics.find(({ Expression }) => Expression)?.Expression ?? '';
  expect(expression).toMatch(/^IF\([\w .>=*/,]+\)$/);
  const script = expression.replace('IF(', 'when(').replaceAll(' OR ', ' || ');
  const evaluate = new Function('errors', 'requests', 'when', `return ${script}`);
  const value: unknown = evaluate(errors, requests, (is: boolean, yes: number, no: number) =>
    is ? yes : no,
  );
  return Number(value) > Threshold;
}

test.each<[errors: number, requests: number, sounds: boolean]>([
  [0, 0, false],
  [1, 1, false],
  [1, 2, false],
  [2, 9, false],
  [3, 3, true],
  [3, 9, true],
  [0, 10, false],
  [1, 10, true],
  [1, 99, true],
  [1, 100, false],
  [3, 300, false],
  [4, 300, true],
  [50, 10_000, false],
])('%d answers with 5xx of %d requests: %s', (errors, requests, expected) => {
  expect(sounds(alarms()('answers with 5xx'), errors, requests)).toBe(expected);
});

test.each<[errors: number, requests: number, sounds: boolean]>([
  [1, 2, false],
  [3, 4, true],
  [25, 100, false],
  [26, 100, true],
])('%d refused of %d requests: %s', (errors, requests, expected) => {
  expect(sounds(alarms()('refuses requests'), errors, requests)).toBe(expected);
});

describe('slow answers', () => {
  test('are those of 10 seconds, and of 10 minutes where a request may take an hour', () => {
    expect(alarms()('is slow')).toMatchObject({ MetricName: 'ModelLatency', Threshold: 10e6 });
    expect(alarms('async')('is slow')).toMatchObject({ Threshold: 600e6 });
  });

  test('are those of a threshold of your own', () => {
    const thresholds = { modelLatencyP90: Duration.seconds(2) };
    expect(alarms('async', thresholds)('is slow')).toMatchObject({ Threshold: 2e6 });
  });
});

describe('of detailed metrics', () => {
  /** Alarms by PromQL, and what the dashboard shows. */
  function detailed(metricsConfig: { readonly detailed?: boolean }) {
    const stack = testStack();
    const model = testModel(stack);
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      endpointName: 'digits',
      variants: [{ model }],
      shadowVariant: { model, variantName: 'next' },
      metricsConfig,
    });
    const alarmTopic = new Topic(stack, 'Topic');
    const monitoring = new EndpointMonitoring(stack, 'Monitoring', { endpoint, alarmTopic });
    const template = Template.fromStack(stack);
    const all = Object.values(template.findResources('AWS::CloudWatch::Alarm')).flatMap(
      ({ Properties }) => {
        const { EvaluationCriteria, AlarmActions } = Properties as {
          EvaluationCriteria?: { PromQLCriteria: { Query: string } };
          AlarmActions?: object[];
        };
        return EvaluationCriteria
          ? [{ query: EvaluationCriteria.PromQLCriteria.Query, actions: AlarmActions?.length }]
          : [];
      },
    );
    return {
      all,
      monitoring,
      dashboard: JSON.stringify(template.findResources('AWS::CloudWatch::Dashboard')),
    };
  }

  test('an instance that cannot be called, and processes that crash, of each variant', () => {
    const { all, monitoring, dashboard } = detailed({ detailed: true });
    expect(all).toHaveLength(4);
    const of = (variant: string) =>
      `"aws.sagemaker.endpoint.name"="digits", "aws.sagemaker.variant.name"="${variant}"}`;
    expect(all.map(({ query }) => query)).toEqual(
      expect.arrayContaining([
        `min by ("@resource.host.id") ({"sagemaker_tfs_ready", ${of('AllTraffic')}) < 1`,
        `sum by ("@resource.host.id") (increase({"sagemaker_tfs_process_restarts_total", ${of('next')}[15m])) > 0`,
      ]),
    );
    for (const { actions } of all) expect(actions).toBe(1);
    expect(monitoring.detailedAlarms).toHaveLength(4);
    expect(dashboard).toContain('"type\\":\\"alarm');
  });

  test.each([{}, { detailed: false }])('none with %j', (metricsConfig) => {
    const { all, dashboard } = detailed(metricsConfig);
    expect(all).toEqual([]);
    expect(dashboard).not.toContain('"type\\":\\"alarm');
  });

  test('the queries are about metrics that the runtime has', () => {
    const { all } = detailed({ detailed: true });
    const source = ['metrics.ts', 'ready-gauge.ts', '../processes/shared-metrics.ts']
      .map((file) =>
        readFileSync(join(__dirname, '../../container/src/observability', file), 'utf8'),
      )
      .join();
    for (const { query } of all) {
      expect(source).toContain(`'${/"(sagemaker_tfs_\w+)"/.exec(query)?.[1]}'`);
    }
  });
});
