/** Metrics as a collector reads them. */

/** Media types of the formats, by name; Prometheus's is the one for who names none. */
export const METRICS_FORMATS = {
  prometheus: { accept: 'text/plain', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
  openmetrics: {
    accept: 'application/openmetrics-text',
    contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  },
} as const;

/** A text format of metrics. OpenMetrics has exemplars. */
export type MetricsFormat = keyof typeof METRICS_FORMATS;

/** What `GET /metrics` answers. */
export interface MetricsPage {
  /** @throws ServingError METRICS_UNAVAILABLE */
  text(format: MetricsFormat): Promise<string>;
}
