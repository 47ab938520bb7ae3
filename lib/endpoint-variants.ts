/** The variants of a configuration's endpoint, each with what it takes from the endpoint and from the model. */
import type { ComponentConfig, EndpointConfig, ModelConfig, VariantConfig } from './config.ts';

/** A variant as it is deployed. */
export interface PlannedVariant {
  /** Undefined for the only variant of an endpoint that lists none. */
  readonly name: string | undefined;
  readonly weight: number | undefined;
  /** Where its own fields stand, below the endpoint: `variants[1]`, `components[1]`, `shadow`, or nothing. */
  readonly path: string;
  /** Whether it gets copies of requests, and its answers go nowhere. */
  readonly isShadow: boolean;
  /** The endpoint with the variant's fields in it. */
  readonly endpoint: EndpointConfig;
  /** The model with the variant's fields in it. */
  readonly model: ModelConfig;
  /** Whether its model differs from the model of the configuration. */
  readonly hasOwnModel: boolean;
}

/** A list of types, and what only holds for it: a variant that names its types takes none of these from the endpoint. */
const OF_TYPES = [
  'instanceType',
  'instanceTypes',
  'provisioningTimeoutSeconds',
  'capacityReservationArn',
  'inferenceAmiVersion',
] as const;
const OF_INSTANCES = [
  ...OF_TYPES,
  'instanceCount',
  'scaling',
  'modelDataDownloadTimeoutSeconds',
  'startupTimeoutSeconds',
] as const;
const OF_PACKAGING = ['handler', 'preprocess', 'postprocess', 'compression'] as const;
/** What a variant has of its model, or not at all. */
const OF_MODEL = [...OF_PACKAGING, 'baked'] as const;
const OF_PLACE = [
  ...['model', 'archive', 'archiveKeyArn', 'multiModel'],
  ...['modelName', 'modelPackage', 'fingerprint'],
] as (keyof ModelConfig & keyof VariantConfig)[];
const OF_OWN_MODEL = [...OF_PLACE, ...OF_PACKAGING] as const;

/**
 * Every variant of an endpoint: production variants in the order given, then the shadow. An inference component counts as
 * one: it has a model, and fields of its own.
 */
export function plannedVariants(model: ModelConfig, endpoint: EndpointConfig): PlannedVariant[] {
  const { variants, shadow, components } = endpoint;
  if (components) {
    const shared = configuredModel(model);
    return components.map((component, i) => {
      const variant = asVariant(component);
      const asked = hasModelOfItsOwn(variant) ? withSamplesOf(model, [component.name]) : shared;
      return planned(asked, endpoint, variant, `components[${i}]`, false);
    });
  }
  const production = variants?.map((variant, i) =>
    planned(model, endpoint, variant, `variants[${i}]`, false),
  );
  const alone: PlannedVariant = {
    name: undefined,
    weight: undefined,
    path: '',
    isShadow: false,
    hasOwnModel: false,
    endpoint,
    model,
  };
  return [
    ...(production ?? [alone]),
    ...(shadow ? [planned(model, endpoint, shadow, 'shadow', true)] : []),
  ];
}

/**
 * The model of the configuration as it is packaged: of the samples that name an inference component it is asked those of
 * the components that serve it.
 */
export function configuredModel(model: ModelConfig): ModelConfig {
  const { components } = model.endpoint ?? {};
  if (!components) return model;
  const serving = components.filter((component) => !hasModelOfItsOwn(asVariant(component)));
  return withSamplesOf(
    model,
    serving.map(({ name }) => name),
  );
}

/** The model with the samples of these components, and those of all. */
function withSamplesOf(model: ModelConfig, names: readonly string[]): ModelConfig {
  const { endpoint } = model;
  if (!endpoint) return model;
  const samples = endpoint.smokeTest.samples.filter(
    ({ component }) => component === undefined || names.includes(component),
  );
  return { ...model, endpoint: { ...endpoint, smokeTest: { ...endpoint.smokeTest, samples } } };
}

/** Where a field of a variant was given: at the variant, or at the endpoint for all. */
export function fieldOfVariant({ path, endpoint }: PlannedVariant, field: string): string {
  const own = path === '' ? undefined : ownFields(endpoint, path);
  const [first = ''] = field.split(/[.[]/);
  return own && first in own && own[first as keyof typeof own] !== undefined
    ? `${path}.${field}`
    : field;
}

function ownFields(
  { variants, shadow, components }: EndpointConfig,
  path: string,
): VariantConfig | ComponentConfig | undefined {
  if (path === 'shadow') return shadow;
  const index = Number(/\d+/.exec(path)?.[0]);
  return path.startsWith('components') ? components?.[index] : variants?.[index];
}

/** What a component has in common with a variant: not its scaling, which is of copies. */
function asVariant({ scaling: _, ...component }: ComponentConfig): VariantConfig {
  return component;
}

function planned(
  model: ModelConfig,
  endpoint: EndpointConfig,
  variant: VariantConfig,
  path: string,
  isShadow: boolean,
): PlannedVariant {
  const { name, weight } = variant;
  const own = modelOf(model, variant);
  return {
    name,
    weight,
    path,
    isShadow,
    endpoint: endpointOf(endpoint, variant, isShadow),
    model: own ?? model,
    hasOwnModel: own !== undefined,
  };
}

function endpointOf(endpoint: EndpointConfig, variant: VariantConfig, isShadow: boolean) {
  const hasTypes = variant.instanceType !== undefined || variant.instanceTypes !== undefined;
  return {
    ...without(endpoint, [
      ...(hasTypes ? OF_TYPES : []),
      // SageMaker scales no shadow.
      ...(isShadow ? (['scaling'] as const) : []),
    ]),
    ...only(variant, OF_INSTANCES),
  };
}

/** Whether it serves another model than the configuration's, or the same one otherwise. */
function hasModelOfItsOwn(variant: VariantConfig): boolean {
  return Object.keys(only(variant, [...OF_OWN_MODEL, 'environment'])).length > 0;
}

/** The variant's own model; undefined if it is the configuration's. */
function modelOf(model: ModelConfig, variant: VariantConfig): ModelConfig | undefined {
  const own = only(variant, OF_OWN_MODEL) as Partial<ModelConfig>;
  const { environment } = variant;
  if (!hasModelOfItsOwn(variant)) return undefined;
  const elsewhere = variant.model ?? variant.archive ?? variant.modelName ?? variant.modelPackage;
  const packaged = variant.model !== undefined || elsewhere === undefined;
  return {
    ...without(model, [
      ...(elsewhere === undefined ? [] : OF_PLACE),
      ...(packaged ? [] : OF_MODEL),
    ]),
    ...own,
    environment: variant.modelName === undefined ? { ...model.environment, ...environment } : {},
  };
}

function without<T extends object, K extends keyof T>(value: T, names: readonly K[]): T {
  const left = Object.entries(value).filter(([name]) => !names.includes(name as K));
  return Object.fromEntries(left) as T;
}

function only<T extends object, K extends keyof T>(
  value: T,
  names: readonly K[],
): Partial<Pick<T, K>> {
  const chosen = names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]]));
  return Object.fromEntries(chosen) as Partial<Pick<T, K>>;
}
