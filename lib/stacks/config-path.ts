/** Errors of constructs, with the field of the configuration that they come from. */
import type { ModelConfig } from '../config.ts';
import { fieldOfVariant, type PlannedVariant, plannedVariants } from '../endpoint-variants.ts';
import { InvalidProp } from '../errors.ts';
import { variantId } from './variant-models.ts';

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
  [/^instancePools(\[\d\])?(\.instanceType)?$/, 'instanceTypes$1'],
  [/^provisioningTimeout$/, 'provisioningTimeoutSeconds'],
  [/^instances\.(instanceType|inferenceAmiVersion)$/, '$1'],
  [/^instances\b/, 'managedInstances'],
  [/^memory$/, 'memoryMiB'],
  [/^update\.percent$/, 'deployment.traffic.percent'],
  [/^update\.wait$/, 'deployment.traffic.waitSeconds'],
  [/^update\./, 'deployment.'],
  [/^shadowVariant$/, 'shadow'],
  [/^variantName$/, 'name'],
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

/** Props of workers with another name there. */
const RENAMED_OF_WORKERS: typeof RENAMED = [
  [/^(timeout|provisioningTimeout)$/, '$1Seconds'],
  [/^memory$/, 'memoryMiB'],
];

/** A stack of a model. */
interface StackOfModel {
  /** The model's, in the configuration. */
  readonly name: string;
  readonly kind: 'endpoint' | 'batch' | 'batchWorker';
  readonly model: ModelConfig;
}

/** The same, with the list that takes what is wrong. */
interface AttemptedStack extends StackOfModel {
  readonly wrong: string[];
}

/** Where a stack has its monitor of drift, whose props are fields of `drift`. */
const IN_DRIFT = /\/Drift(\/|$)/;

/** The field of a model, as the configuration names it. */
function configField(
  { name, kind, model }: StackOfModel,
  { prop, place: at }: InvalidProp,
): string {
  if (IN_DRIFT.test(at)) return `models.${name}.${kind}.drift.${prop}`;
  const [, place = '', field = prop] =
    /^(variants\[\d+\]|components\[\d+\]|shadowVariant)\.(.*)$/s.exec(prop) ?? [];
  const [first = ''] = field.split(/[.[]/);
  if (first === 'image' || first === 'vpc') return prop;
  const ofModel = first === 'modelData' ? 'model' : OF_MODEL.has(first) ? prop : undefined;
  if (ofModel !== undefined) {
    const variant = variantsOf(model).find((one) => at.includes(`/${variantId(one.name)}/`));
    const path = variant ? fieldOfVariant(variant, ofModel) : ofModel;
    return `models.${name}.${path === ofModel ? path : `endpoint.${path}`}`;
  }
  const names = kind === 'batchWorker' ? RENAMED_OF_WORKERS : RENAMED;
  const renamed = names.reduce((text, [from, to]) => text.replace(from, to), field);
  return `models.${name}.${kind}.${place === '' ? renamed : ofVariant(model, place, renamed)}`;
}

/** A field of a variant, where it was given: at the variant, or at the endpoint for all. */
function ofVariant(model: ModelConfig, place: string, field: string): string {
  const path = place === 'shadowVariant' ? 'shadow' : place;
  const variant = variantsOf(model).find((one) => one.path === path);
  if (place.startsWith('components') && !field.endsWith('TimeoutSeconds'))
    return `${place}.${field}`;
  return variant ? fieldOfVariant(variant, field) : field;
}

function variantsOf(model: ModelConfig): PlannedVariant[] {
  return model.endpoint ? plannedVariants(model, model.endpoint) : [];
}

/** Makes a stack. Undefined if a construct refuses a prop: `wrong` then names its field. */
export function fromConfig<T>(of: AttemptedStack, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidProp)) throw error;
    of.wrong.push(`${configField(of, error)}: ${error.advice}`);
    return undefined;
  }
}
