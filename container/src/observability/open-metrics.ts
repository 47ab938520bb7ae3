/**
 * Metrics in the OpenMetrics text format, with exemplars: a request for each bucket, which its line in the log and its spans
 * name too.
 * https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md#exemplars
 */
import { AggregatorRegistry, Registry } from 'prom-client';

/** A request of a bucket, as prom-client writes it. */
export interface Exemplar {
  readonly labelSet: { readonly request_id: string };
  /** What was observed. */
  readonly value: number;
  /** In seconds since 1970. */
  readonly timestamp: number;
}

/** A sample as prom-client's `getMetricsAsJSON` returns it; one of a bucket may have an exemplar. */
export interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
  exemplar?: Exemplar;
}

/** A metric of `getMetricsAsJSON`. */
export interface MetricJson {
  readonly name: string;
  readonly type: unknown;
  readonly values: readonly Sample[];
}

/** One page of what several processes count; of each bucket the newest exemplar. */
export async function openMetricsText(
  processes: readonly (readonly MetricJson[])[],
): Promise<string> {
  const newest = newestExemplars(processes.flat());
  const registry = AggregatorRegistry.aggregate(
    processes.map((metrics) => metrics.map(withoutTotal)),
  );
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  for (const { get } of registry.getMetricsAsArray() as unknown as { get(): MetricJson }[]) {
    for (const sample of get().values) {
      const exemplar = newest.get(keyOf(sample));
      if (exemplar) sample.exemplar = exemplar;
    }
  }
  // OpenMetrics writes bounds as numbers with a point.
  return (await registry.metrics()).replace(/([{,]le=")(\d+)"/g, '$1$2.0"');
}

/** The format itself adds `_total` to counters. */
function withoutTotal(metric: MetricJson): MetricJson {
  return metric.type === 'counter'
    ? { ...metric, name: metric.name.replace(/_total$/, '') }
    : metric;
}

function newestExemplars(metrics: readonly MetricJson[]): Map<string, Exemplar> {
  const newest = new Map<string, Exemplar>();
  for (const sample of metrics.flatMap(({ values }) => values)) {
    if (!sample.exemplar) continue;
    const key = keyOf(sample);
    const known = newest.get(key);
    if (!known || known.timestamp < sample.exemplar.timestamp) newest.set(key, sample.exemplar);
  }
  return newest;
}

function keyOf({ metricName, labels }: Sample): string {
  return JSON.stringify([metricName, Object.entries(labels).sort()]);
}
