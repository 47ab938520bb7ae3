/** Results as stack outputs, CloudWatch metrics (embedded metric format) and a table in the log. */
import { TRANSPORTS, type Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import type { SmokeTestPlan } from '../plan.ts';
import { costPerMillion } from './latency.ts';
import type { SampleResult } from './run-sample.ts';

/** Attributes of the custom resource, each a text: `GrpcMeanMs`, `RestP95Ms`, `GrpcCostPerMillionUsd`... */
export type SmokeTestOutputs = Record<string, string>;

const LATENCIES = ['meanMs', 'p50Ms', 'p90Ms', 'p95Ms', 'coldMs'] as const;

/** `MeanMs` of `meanMs`, `InProcess` of `in-process`. */
function outputName(part: string): string {
  return part.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the outputs of a transport, in the order of {@link outputs}. */
export function outputNames(transport: Transport): string[] {
  const parts = [...LATENCIES, 'requestBytes', 'responseBytes', 'costPerMillionUsd'];
  return parts.map((part) => `${outputName(transport)}${outputName(part)}`);
}

/**
 * A value for every output that a stack may ask for. CloudFormation fails a stack whose output names an
 * attribute that the answer lacks, also while it rolls back ('Vendor response doesn't contain ... key').
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
 */
export function notMeasured(): SmokeTestOutputs {
  const names = TRANSPORTS.flatMap((transport) => outputNames(transport));
  return Object.fromEntries(names.map((name) => [name, 'not measured']));
}

/** Averages over samples and variants, by transport. */
export function outputs(plan: SmokeTestPlan, results: readonly SampleResult[]): SmokeTestOutputs {
  const transports = [...new Set(results.map(({ transport }) => transport))];
  return Object.fromEntries(
    transports.flatMap((transport) =>
      transportOutputs(
        transport,
        results.filter((result) => result.transport === transport),
        plan,
      ),
    ),
  );
}

function transportOutputs(
  transport: Transport,
  results: readonly SampleResult[],
  plan: SmokeTestPlan,
): [string, string][] {
  const mean = (of: (result: SampleResult) => number) =>
    results.reduce((sum, result) => sum + of(result), 0) / results.length;
  const cost = mean((result) => costOf(plan, result) ?? Number.NaN);
  const values = [
    ...LATENCIES.map((key) => mean((result) => result[key]).toFixed(1)),
    mean((result) => result.requestBytes).toFixed(0),
    mean((result) => result.responseBytes).toFixed(0),
    Number.isNaN(cost) ? 'unknown' : cost.toFixed(2),
  ];
  return outputNames(transport).map((name, i) => [name, values[i] ?? '']);
}

/** US dollars of a million such calls; undefined if the price is not known. */
function costOf(plan: SmokeTestPlan, result: SampleResult): number | undefined {
  const price = plan.variants.find(({ name }) => name === result.variant)?.usdPerSecond;
  return price === undefined ? undefined : costPerMillion(result.meanMs, price);
}

/** One log line from which CloudWatch makes metrics by endpoint, sample and transport. */
export function embeddedMetrics(plan: SmokeTestPlan, result: SampleResult, now: number): string {
  return JSON.stringify({
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: plan.metricNamespace,
          Dimensions: [['EndpointName', 'VariantName', 'Sample', 'Transport']],
          Metrics: LATENCIES.map((key) => ({ Name: outputName(key), Unit: 'Milliseconds' })),
        },
      ],
    },
    EndpointName: plan.endpointName,
    VariantName: result.variant,
    Sample: result.sample,
    Transport: result.transport,
    ...Object.fromEntries(LATENCIES.map((key) => [outputName(key), result[key]])),
    RequestBytes: result.requestBytes,
    ResponseBytes: result.responseBytes,
    Calls: result.calls,
  });
}

/** A table for people who read the log. */
export function table(plan: SmokeTestPlan, results: readonly SampleResult[]): string {
  const header =
    'variant,sample,transport,calls,mean ms,P50,P90,P95,cold,sent,received,USD/million'.split(',');
  const rows = results.map((result) => [
    result.variant,
    result.sample,
    result.transport,
    String(result.calls),
    ...LATENCIES.map((key) => result[key].toFixed(1)),
    String(result.requestBytes),
    String(result.responseBytes),
    costOf(plan, result)?.toFixed(2) ?? '-',
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [header, ...rows]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}
