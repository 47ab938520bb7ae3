/** Every route with its meaning, for the documentation. `routes.ts` answers them: their types hold it to this table. */
import { OUTPUT_SHAPES_ATTRIBUTE } from '@sagemaker-tfs/tensors/custom-attributes';
import type { RouteHandler } from './route-match.ts';

/** One route. */
interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Where it is answered. */
  readonly where: 'always' | 'multi-model';
  readonly description: string;
}

/** Every route of the container. */
export const ROUTES = [
  {
    method: 'GET',
    path: '/ping',
    where: 'always',
    description:
      '200 once every configured model is AVAILABLE and the handler is loaded; until then 503 with the reason. A model server that hangs is found out after `SAGEMAKER_TFS_MODEL_SERVER_SILENCE_SECONDS`, and 200 until then.',
  },
  {
    method: 'POST',
    path: '/invocations',
    where: 'always',
    description:
      'One inference. Custom attributes choose model, version, signature, transport, outputs.',
  },
  {
    method: 'GET',
    path: '/execution-parameters',
    where: 'always',
    description: 'Settings that batch transform uses if the job does not set them.',
  },
  {
    method: 'GET',
    path: '/models',
    where: 'multi-model',
    description: 'Loaded models, 100 a page; `next_page_token` continues.',
  },
  {
    method: 'POST',
    path: '/models',
    where: 'multi-model',
    description:
      'Loads `{"model_name", "url"}`: 409 already loaded, 404 no valid version, 507 out of memory.',
  },
  {
    method: 'GET',
    path: '/models/:name',
    where: 'multi-model',
    description: 'One loaded model; 404 if it is not loaded.',
  },
  {
    method: 'DELETE',
    path: '/models/:name',
    where: 'multi-model',
    description: 'Unloads a model, after its requests in flight.',
  },
  {
    method: 'POST',
    path: '/models/:name/invoke',
    where: 'multi-model',
    description: 'One inference of a loaded model; 404 if it is not loaded.',
  },
  {
    method: 'GET',
    path: '/metrics',
    where: 'always',
    description:
      'Metrics of all processes in the Prometheus text format, or in OpenMetrics with a request for each bucket (`Accept: application/openmetrics-text`); also on SAGEMAKER_TFS_METRICS_PORT, if it is set.',
  },
] as const satisfies readonly RouteDefinition[];

type Row = (typeof ROUTES)[number];

/** What answers the routes of a kind: a handler for each method of each path. */
export type RoutesOf<Where extends Row['where']> = {
  readonly [Path in Extract<Row, { where: Where }>['path']]: {
    readonly [Method in Extract<Row, { where: Where; path: Path }>['method']]: RouteHandler;
  };
};

/** One custom attribute of requests. */
interface AttributeDefinition {
  readonly name: string;
  readonly description: string;
}

/** What requests may ask for in `X-Amzn-SageMaker-Custom-Attributes`. A comma in a value is `%2C`. */
export const REQUEST_ATTRIBUTES: readonly AttributeDefinition[] = [
  { name: 'tfs-model-name', description: 'Model. Default: SAGEMAKER_TFS_DEFAULT_MODEL_NAME.' },
  { name: 'tfs-model-version', description: 'Version. Default: the newest.' },
  {
    name: 'tfs-model-label',
    description:
      'Label of a version (SAGEMAKER_TFS_VERSION_LABELS), instead of `tfs-model-version`.',
  },
  { name: 'tfs-method', description: '`predict` (default), `classify` or `regress`.' },
  {
    name: 'tfs-signature',
    description: 'Signature key. Default: serving_default, or the only one.',
  },
  {
    name: 'tfs-outputs',
    description:
      'Outputs wanted, in order, by the names that answers show. Others are never serialized.',
  },
  { name: 'tfs-transport', description: '`grpc` or `rest`. Default: SAGEMAKER_TFS_BACKEND.' },
  { name: 'tfs-timings', description: '`1`: the answer has `tfs-timings`.' },
  {
    name: 'traceparent',
    description:
      "The caller's span, as W3C Trace Context writes it (SAGEMAKER_TFS_TRACES); the header of that name where SageMaker is not in between.",
  },
  { name: 'tracestate', description: 'What vendors keep beside `traceparent`.' },
];

/** What answers carry in the same header. */
export const RESPONSE_ATTRIBUTES: readonly AttributeDefinition[] = [
  {
    name: 'tfs-fingerprint',
    description: 'First 16 hex digits of the fingerprint of the archive.',
  },
  { name: 'tfs-model-version', description: 'Version that answered.' },
  {
    name: 'tfs-bad-records',
    description: 'Rows that are an error instead of an answer (SAGEMAKER_TFS_BAD_RECORD=answer).',
  },
  {
    name: OUTPUT_SHAPES_ATTRIBUTE,
    description:
      'Names and shapes of the outputs in a flat npy or CSV answer: `boxes:1x100x4;scores:1x100`, names URI-encoded.',
  },
  {
    name: 'tfs-timings',
    description: 'Milliseconds: `receive:0.2;queue:0.0;decode:1.1;predict:3.0;encode:0.1`.',
  },
];
