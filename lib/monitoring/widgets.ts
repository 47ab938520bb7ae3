/** Dashboard rows of a variant. */
import { GraphWidget, type IMetric, type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ComponentMetrics } from '../components/metrics.ts';
import type { QueueMetrics, RequestMetrics, VariantMetrics } from '../endpoint/metrics.ts';

const WIDTH = 8;
const HEIGHT = 6;

function graph(title: string, left: IMetric[], leftLabel: string, right: IMetric[] = []): IWidget {
  return new GraphWidget({
    title,
    width: WIDTH,
    height: HEIGHT,
    left,
    right,
    leftYAxis: { min: 0, label: leftLabel, showUnits: false },
    ...(right.length > 0 && { rightYAxis: { min: 0, showUnits: false } }),
  });
}

/** Where the time goes: in the container, and around it where SageMaker says that. */
function latency(metrics: RequestMetrics, isAsync: boolean): IWidget {
  const percentiles = ['p50', 'p90', 'p99'];
  return graph(
    'Latency',
    [
      ...percentiles.map((statistic) =>
        metrics.metricModelLatency({ statistic, label: `container ${statistic}` }),
      ),
      ...(isAsync ? [] : [metrics.metricOverheadLatency({ label: 'SageMaker p90' })]),
    ],
    'microseconds',
  );
}

function requests(metrics: VariantMetrics, isAsync: boolean): IWidget {
  const errors = [
    metrics.metricClientErrors({ label: '4xx' }),
    metrics.metricServerErrors({ label: '5xx' }),
  ];
  if (isAsync) return graph('Failed requests', errors, 'a minute');
  return graph(
    'Requests',
    [
      metrics.metricInvocations({ label: 'requests' }),
      metrics.metricInvocationsPerInstance({ label: 'for each instance' }),
    ],
    'a minute',
    errors,
  );
}

function resources(metrics: VariantMetrics, gpu: boolean): IWidget {
  return graph(
    'Utilization (100 for each CPU or GPU)',
    [
      metrics.metricCpuUtilization({ label: 'CPU' }),
      metrics.metricMemoryUtilization({ label: 'memory' }),
      metrics.metricDiskUtilization({ label: 'disk' }),
      ...(gpu
        ? [
            metrics.metricGpuUtilization({ label: 'GPU' }),
            metrics.metricGpuMemoryUtilization({ label: 'GPU memory' }),
          ]
        : []),
    ],
    'percent',
  );
}

/** What a row shows beside requests and latency. */
export type VariantHardware = 'cpu' | 'gpu' | 'serverless';

/**
 * One row: a heading, latency, requests, and what the hardware does.
 * @param isAsync SageMaker counts no requests of asynchronous endpoints, and no time of its own
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html
 */
export function variantRow(
  name: string,
  metrics: VariantMetrics,
  hardware: VariantHardware,
  isAsync: boolean,
): IWidget[] {
  const third =
    hardware === 'serverless'
      ? graph('Start of compute', [metrics.metricModelSetupTime({ label: 'p90' })], 'microseconds')
      : resources(metrics, hardware === 'gpu');
  return [
    new TextWidget({ markdown: `## Variant ${name}`, width: 24, height: 1 }),
    latency(metrics, isAsync),
    requests(metrics, isAsync),
    third,
  ];
}

/** One row for the queue of an asynchronous endpoint. */
export function queueRow(metrics: QueueMetrics): IWidget[] {
  return [
    new TextWidget({ markdown: '## Queue', width: 24, height: 1 }),
    graph('Backlog', [metrics.metricBacklog(), metrics.metricBacklogPerInstance()], 'requests'),
    graph('Requests without an instance', [metrics.metricHasBacklogWithoutCapacity()], '1 = yes'),
  ];
}

/** One row for an inference component: a heading, latency, requests, and what its copies use of their share. */
export function componentRow(name: string, metrics: ComponentMetrics, hasGpu: boolean): IWidget[] {
  return [
    new TextWidget({ markdown: `## Component ${name}`, width: 24, height: 1 }),
    latency(metrics, false),
    graph(
      'Requests',
      [
        metrics.metricInvocations({ label: 'requests' }),
        metrics.metricInvocationsPerCopy({ label: 'for each copy' }),
      ],
      'a minute',
      [
        metrics.metricClientErrors({ label: '4xx' }),
        metrics.metricServerErrors({ label: '5xx' }),
        metrics.metricNoCapacityFailures({ label: 'asleep' }),
      ],
    ),
    graph(
      'Utilization of the share',
      [
        metrics.metricCpuUtilization({ label: 'CPU' }),
        metrics.metricMemoryUtilization({ label: 'memory' }),
        ...(hasGpu
          ? [
              metrics.metricGpuUtilization({ label: 'GPU' }),
              metrics.metricGpuMemoryUtilization({ label: 'GPU memory' }),
            ]
          : []),
      ],
      'percent',
    ),
  ];
}
