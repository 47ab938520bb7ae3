/** Metrics as a collector reads them. */

/** Media type of the Prometheus text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What `GET /metrics` answers. */
export interface MetricsPage {
  /** In the Prometheus text format. @throws ServingError METRICS_UNAVAILABLE */
  text(): Promise<string>;
}
