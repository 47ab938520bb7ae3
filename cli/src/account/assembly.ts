/** What a synthesized app will deploy, as far as an account must be ready for it: read from `cdk.out`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../errors.ts';

/** Instances of one type, at most. */
export interface Fleet {
  readonly type: string;
  readonly use: 'endpoint' | 'transform job';
  /** Instances that are paid for from the start; 0 for jobs. */
  readonly atFirst: number;
  /** Most instances at once, the second fleet of an update included. */
  readonly most: number;
  /** Whether others are tried where this type is refused. */
  readonly hasOthers: boolean;
}

/** Instances of EC2 that AWS Batch starts for workers. */
export interface WorkerFleet {
  readonly types: readonly string[];
  readonly spot: boolean;
  /** Of all workers at once. */
  readonly vcpus: number;
  /** Of the smallest worker. */
  readonly least: number;
}

/** One stack. */
export interface PlannedStack {
  readonly name: string;
  /** Undefined if the app leaves it to the credentials. */
  readonly account: string | undefined;
  /** Undefined if the app leaves it to the credentials. */
  readonly region: string | undefined;
  readonly bootstrapVersion: number;
  /** Names the bootstrap that its assets go to, among those of the account and region. */
  readonly qualifier: string;
  readonly fleets: readonly Fleet[];
  readonly workers: readonly WorkerFleet[];
  readonly amis: readonly string[];
  /** ECR addresses that the app does not build. */
  readonly images: readonly string[];
  readonly isScaled: boolean;
  readonly isServerless: boolean;
  readonly resources: Resources;
}

const properties = z.record(z.string(), z.unknown()).optional();
const template = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), Properties: properties })),
});
/** Resources of a template by their logical ids. */
export type Resources = z.output<typeof template>['Resources'];

const manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().optional(),
      displayName: z.string().optional(),
      properties: z
        .object({
          templateFile: z.string().optional(),
          stackName: z.string().optional(),
          directoryName: z.string().optional(),
          requiresBootstrapStackVersion: z.number().optional(),
          bootstrapStackVersionSsmParameter: z.string().optional(),
        })
        .optional(),
    }),
  ),
});

/** Stacks of an assembly, those of its stages too. @throws CommandError FILE_NOT_FOUND */
export async function readAssembly(directory: string): Promise<PlannedStack[]> {
  const { artifacts } = await read(join(directory, 'manifest.json'), manifest);
  const stacks = await Promise.all(
    Object.entries(artifacts).map(
      async ([id, { type, environment = '', properties: more = {} }]) => {
        if (type === 'cdk:cloud-assembly')
          return readAssembly(join(directory, more.directoryName ?? ''));
        if (type !== 'aws:cloudformation:stack') return [];
        const { Resources } = await parseTemplate(join(directory, more.templateFile ?? ''));
        const [, account, region = ''] = /^aws:\/\/([^/]*)\/(.*)$/.exec(environment) ?? [];
        return [
          {
            name: more.stackName ?? id,
            account: account === 'unknown-account' ? undefined : account,
            region: region === 'unknown-region' ? undefined : region,
            bootstrapVersion: more.requiresBootstrapStackVersion ?? 0,
            qualifier: qualifierOf(more.bootstrapStackVersionSsmParameter),
            ...needsOf(Resources),
          },
        ];
      },
    ),
  );
  return stacks.flat();
}

/** That of a bootstrap which was given none. */
export const DEFAULT_QUALIFIER = 'hnb659fds';

/** @see https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html */
function qualifierOf(parameter = ''): string {
  return /^\/cdk-bootstrap\/([^/]+)\/version$/.exec(parameter)?.[1] ?? DEFAULT_QUALIFIER;
}

const parseTemplate = (file: string) => read(file, template);

/** Resources of a template's text; none where it is no JSON template. */
export function resourcesOf(text: string): Resources {
  try {
    const parsed = template.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.Resources : {};
  } catch {
    return {};
  }
}

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new CommandError(
      'FILE_NOT_FOUND',
      `${file} is no part of a synthesized app. Run npx cdk synth, or name its folder with --app.`,
      { cause },
    );
  }
}

const variantSchema = z.array(
  z.object({
    VariantName: z.string(),
    InstanceType: z.string().optional(),
    InstancePools: z.array(z.object({ InstanceType: z.string() })).optional(),
    InitialInstanceCount: z.number().optional(),
    InferenceAmiVersion: z.string().optional(),
    ManagedInstanceScaling: z
      .object({ MinInstanceCount: z.number(), MaxInstanceCount: z.number() })
      .optional(),
    ServerlessConfig: z
      .object({ MemorySizeInMB: z.number(), ProvisionedConcurrency: z.number().optional() })
      .optional(),
  }),
);

/** A production or shadow variant of a template. */
export type PlannedVariant = z.output<typeof variantSchema>[number];

const all = (resources: Resources, type: string) =>
  Object.values(resources)
    .filter((resource) => resource.Type === type)
    .map((resource) => resource.Properties ?? {});

/** Instance types of a variant, in order of preference; none for a serverless one. */
export function typesOf({ InstanceType, InstancePools }: PlannedVariant): string[] {
  if (InstancePools) return InstancePools.map((pool) => pool.InstanceType);
  return InstanceType === undefined ? [] : [InstanceType];
}

/** What a serverless variant keeps warm; undefined if nothing. */
export function warmOf({ ServerlessConfig: config }: PlannedVariant) {
  const concurrency = config?.ProvisionedConcurrency ?? 0;
  if (!config || concurrency === 0) return undefined;
  const gigabytes = config.MemorySizeInMB / 1_024;
  return {
    concurrency,
    gigabytes,
    text: `provisioned concurrency of ${concurrency} x ${gigabytes} GB`,
  };
}

/** Every variant of a template. */
export function variantsOf(resources: Resources): PlannedVariant[] {
  return all(resources, 'AWS::SageMaker::EndpointConfig').flatMap((config) =>
    ['ProductionVariants', 'ShadowProductionVariants'].flatMap(
      (key) => variantSchema.safeParse(config[key]).data ?? [],
    ),
  );
}

/** Most instances of each scaled variant, by its name. */
export function scaledVariants(resources: Resources): ReadonlyMap<string, number> {
  const targets = all(resources, 'AWS::ApplicationAutoScaling::ScalableTarget');
  return new Map(
    targets.map(({ ResourceId, MaxCapacity, ScheduledActions }) => [
      // The endpoint's name may be a reference; the variant's is always the end of the text.
      /\/variant\/([A-Za-z0-9-]+)/.exec(JSON.stringify(ResourceId))?.[1] ?? '',
      Math.max(Number(MaxCapacity), ...scheduledMost(ScheduledActions)),
    ]),
  );
}

const scheduledSchema = z.array(
  z.object({
    ScalableTargetAction: z.object({ MaxCapacity: z.number().default(0) }).optional(),
  }),
);

/** Most instances of each time of a schedule. */
function scheduledMost(actions: unknown): number[] {
  const parsed = scheduledSchema.safeParse(actions).data ?? [];
  return parsed.map(({ ScalableTargetAction: action }) => action?.MaxCapacity ?? 0);
}

function needsOf(resources: Resources) {
  const variants = variantsOf(resources);
  const scaled = scaledVariants(resources);
  const models = all(resources, 'AWS::SageMaker::Model');
  const containers = models.map(({ PrimaryContainer }) => PrimaryContainer as { Image?: unknown });
  return {
    fleets: [...endpointFleets(resources, variants, scaled), ...jobFleets(resources)],
    workers: workerFleets(resources),
    amis: [...new Set(variants.flatMap((variant) => variant.InferenceAmiVersion ?? []))],
    images: [
      ...new Set(containers.flatMap((one) => (typeof one?.Image === 'string' ? [one.Image] : []))),
    ],
    isScaled: scaled.size > 0,
    isServerless: variants.some((variant) => variant.ServerlessConfig !== undefined),
    resources,
  };
}

/** A rolling update adds half of a fleet at most, every other a second fleet. */
function endpointFleets(
  resources: Resources,
  variants: readonly PlannedVariant[],
  scaled: ReadonlyMap<string, number>,
): Fleet[] {
  const rolling = JSON.stringify(all(resources, 'AWS::SageMaker::Endpoint')).includes(
    'RollingUpdatePolicy',
  );
  // A configuration that waits for its endpoint runs on nothing.
  if (all(resources, 'AWS::SageMaker::Endpoint').length === 0) return [];
  return variants.flatMap((variant) => {
    const { VariantName, InitialInstanceCount = 1 } = variant;
    const shared = variant.ManagedInstanceScaling?.MaxInstanceCount ?? 0;
    const instances = Math.max(InitialInstanceCount, scaled.get(VariantName) ?? 0, shared);
    const most = rolling ? Math.ceil(1.5 * instances) : 2 * instances;
    const use = 'endpoint' as const;
    // The next type is tried for lack of capacity, and not of quota.
    return typesOf(variant).map((type, i) => ({
      type,
      use,
      atFirst: i === 0 ? InitialInstanceCount : 0,
      most,
      hasOthers: false,
    }));
  });
}

/** What a state machine of a `BatchTransform` runs jobs on, by its default settings. */
function jobFleets(resources: Resources): Fleet[] {
  return all(resources, 'AWS::StepFunctions::StateMachine').flatMap((machine) => {
    const text = JSON.stringify(machine.DefinitionString ?? '').replaceAll('\\', '');
    const number = (name: string) => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? 1);
    const sharded = number('objectsPerShard') > 0;
    const types = [...text.matchAll(/"instanceType":"(ml\.[a-z0-9.-]+)"/g)].map(
      ([, type = '']) => type,
    );
    const most = number('instanceCount') * (sharded ? number('maxConcurrentJobs') : 1);
    const use = 'transform job' as const;
    return types.map((type) => ({ type, use, atFirst: 0, most, hasOthers: types.length > 1 }));
  });
}

const computeSchema = z.object({
  Type: z.enum(['SPOT', 'EC2']),
  InstanceTypes: z.array(z.string()),
  MaxvCpus: z.number(),
});
const requirements = z.object({
  ResourceRequirements: z.array(z.object({ Type: z.string(), Value: z.coerce.number() })),
});

function workerFleets(resources: Resources): WorkerFleet[] {
  const sizes = all(resources, 'AWS::Batch::JobDefinition').flatMap(
    ({ ContainerProperties }) =>
      requirements.safeParse(ContainerProperties).data?.ResourceRequirements ?? [],
  );
  const vcpus = sizes.filter(({ Type }) => Type === 'VCPU').map(({ Value }) => Value);
  const least = Math.min(Number.POSITIVE_INFINITY, ...vcpus);
  return all(resources, 'AWS::Batch::ComputeEnvironment').flatMap(({ ComputeResources }) => {
    const { data } = computeSchema.safeParse(ComputeResources);
    if (!data) return [];
    const { Type, InstanceTypes: types, MaxvCpus: most } = data;
    return [{ types, spot: Type === 'SPOT', vcpus: most, least: Math.min(least, most) }];
  });
}
