/** Every route of the container, by path and method. */

import { acceptableTypes } from '@sagemaker-tfs/tensors/media-type';
import type { ModelTable } from '../multi-model/model-table.ts';
import {
  METRICS_FORMATS,
  type MetricsFormat,
  type MetricsPage,
} from '../observability/metrics-page.ts';
import { executionParameters } from './execution-parameters.ts';
import { invoke } from './lazy-invoke.ts';
import { getModel, listModels, loadModel, unloadModel } from './models.ts';
import { ping } from './ping.ts';
import type { RoutesOf } from './route-table.ts';
import type { Services } from './services.ts';

/** The routes of a container that serves one archive. */
export function singleModelRoutes(services: Services): RoutesOf<'always'> {
  return {
    '/ping': { GET: () => ping(services) },
    '/invocations': { POST: (exchange) => invoke(services, exchange) },
    '/execution-parameters': { GET: () => executionParameters(services.environment) },
    ...metricsRoute(services.metricsPage),
  };
}

/** `GET /metrics`: on SageMaker's port, where its collector asks, and on a port of its own where one is set. */
export function metricsRoute(page: MetricsPage): Pick<RoutesOf<'always'>, '/metrics'> {
  return {
    '/metrics': {
      GET: async ({ request }) => {
        const format = metricsFormat(request.headers.accept);
        return {
          status: 200,
          headers: { 'Content-Type': METRICS_FORMATS[format].contentType },
          body: [Buffer.from(await page.text(format))],
        };
      },
    },
  };
}

function metricsFormat(accept: string | undefined): MetricsFormat {
  const { prometheus, openmetrics } = METRICS_FORMATS;
  const [best] = acceptableTypes(accept, [prometheus.accept, openmetrics.accept]);
  return best === openmetrics.accept ? 'openmetrics' : 'prometheus';
}

/** The routes of a multi-model endpoint. */
export function multiModelRoutes(
  services: Services,
  table: ModelTable,
): RoutesOf<'always' | 'multi-model'> {
  return {
    ...singleModelRoutes(services),
    '/models': {
      GET: (exchange) => listModels(table, exchange),
      POST: (exchange) =>
        loadModel(table, exchange, services.environment.limits.maxLoadRequestBytes),
    },
    '/models/:name': {
      GET: (_exchange, { name = '' }) => getModel(table, name),
      DELETE: (_exchange, { name = '' }) => unloadModel(table, name),
    },
    '/models/:name/invoke': {
      POST: (exchange, { name = '' }) => invoke(services, exchange, name),
    },
  };
}
