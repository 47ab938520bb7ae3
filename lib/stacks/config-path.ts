/** Errors of constructs, told by the field of the configuration that they come from. */
import { ConfigurationError, InvalidProp } from '../errors.ts';

/** Props that a model of the configuration has, whatever they are for. */
const OF_MODEL = new Set([
  'model',
  'environment',
  'handler',
  'preprocess',
  'postprocess',
  'compression',
  'networkIsolation',
]);
/** Props with another name in the configuration. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/^variants\[0\]\./, ''],
  [/^instancePools(\[\d\])?(\.instanceType)?$/, 'instanceTypes$1'],
  [/^provisioningTimeout$/, 'provisioningTimeoutSeconds'],
  [/^timeout$/, 'api.timeoutSeconds'],
  [/^(jwt|throttle|corsOrigin|domain)\b/, 'api.$1'],
  [/^deployment\.bakeTime$/, 'deployment.bakeSeconds'],
  [/^deployment\.traffic\.wait$/, 'deployment.traffic.waitSeconds'],
  [/^asyncInference\.expiration$/, 'asyncRetentionDays'],
  [/^asyncInference\b/, 'async'],
  [/^dataCapture\.expiration$/, 'dataCaptureRetentionDays'],
  [/^dataCapture\b.*/, 'dataCapturePercent'],
  [/^serverless\.memory$/, 'serverless.memoryGiB'],
  [/^modelDataDownloadTimeout$/, 'modelDataDownloadTimeoutSeconds'],
  [/^containerStartupHealthCheckTimeout$/, 'startupTimeoutSeconds'],
  [/^(samples\b.*|iterations)$/, 'smokeTest.$1'],
];

/** The field of a model, as the configuration names it. */
function configField(model: string, kind: 'endpoint' | 'batch', prop: string): string {
  const [first = ''] = prop.split(/[.[]/);
  if (first === 'image' || first === 'vpc') return prop;
  if (first === 'modelData') return `models.${model}.model`;
  if (OF_MODEL.has(first)) return `models.${model}.${prop}`;
  const renamed = RENAMED.reduce((text, [from, to]) => text.replace(from, to), prop);
  return `models.${model}.${kind}.${renamed}`;
}

/** Makes a stack. @throws ConfigurationError naming the field, for a prop that a construct refuses */
export function fromConfig<T>(model: string, kind: 'endpoint' | 'batch', make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidProp)) throw error;
    const field = configField(model, kind, error.prop);
    throw new ConfigurationError(`${field}: ${error.advice}`, { cause: error });
  }
}
