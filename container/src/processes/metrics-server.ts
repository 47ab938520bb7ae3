/** The internal port with the metrics of all workers. */
import type { Logger } from 'pino';
import type { Environment } from '../environment.ts';
import { metricsRoute } from '../http/routes.ts';
import { type RunningServer, startServer } from '../http/server.ts';
import type { MetricsPage } from '../observability/metrics-page.ts';

/** Starts to listen on `SAGEMAKER_TFS_METRICS_PORT`. @throws where the port is taken */
export async function startMetricsServer(
  { address, foreignPages, limits, metrics: { port = 0 } }: Environment,
  log: Logger,
  page: MetricsPage,
): Promise<RunningServer> {
  const routes = metricsRoute(page);
  const timeoutMs = limits.requestTimeoutMs;
  const portVariable = 'SAGEMAKER_TFS_METRICS_PORT';
  const options = { port, portVariable, address, foreignPages, timeoutMs, log };
  const server = await startServer(routes, options);
  log.info({ port: server.port, paths: Object.keys(routes) }, 'listening');
  return server;
}
