/** The schema of `serving.config.ts`: what the app deploys. */
import * as z from 'zod';
import { bakedProblems } from './config/baked.ts';
import { batch } from './config/batch.ts';
import { batchWorker, checkWorkerSource, workersWithoutVpc } from './config/batch-worker.ts';
import { type component, componentConflict } from './config/components.ts';
import { endpoint, type endpointVariant, unrecordedData } from './config/endpoint.ts';
import { environment, vpc } from './config/environment.ts';
import { keyArn, name } from './config/fields.ts';
import { image } from './config/image.ts';
import { redeploy, registry } from './config/registry.ts';
import { checkSources, SOURCE_LIST, sources, sourcesOf } from './config/sources.ts';
import { sameStacks } from './config/stack-names.ts';
import { checkVariants } from './config/variants.ts';
import { tokenProblem } from './rules/limits.ts';

const model = z
  .strictObject({
    ...sources,
    networkIsolation: z
      .boolean()
      .optional()
      .describe(
        'Cuts the container off from every network. Default: `true`; `false` for serverless endpoints, which do not offer it.',
      ),
    endpoint: endpoint.optional().describe('An endpoint that answers requests.'),
    batch: batch.optional().describe('A state machine that runs batch transforms.'),
    batchWorker: batchWorker
      .optional()
      .describe(
        '[Workers on AWS Batch](batch.md#on-aws-batch-on-spot-instances), on spot instances, with their queue and job. Needs `vpc`.',
      ),
  })
  .superRefine((config, context) => {
    if (sourcesOf(config).length === 0) {
      const message = `none of ${SOURCE_LIST} is given. Give one of them`;
      context.addIssue({ code: 'custom', message });
    }
    checkSources(config, context);
    checkVariants(config, context);
    checkWorkerSource(config, context);
  })
  .refine(({ endpoint, batch, batchWorker }) => endpoint || batch || batchWorker, {
    message: `deploys nothing. Add 'endpoint', 'batch' or 'batchWorker'`,
  });

/** Schema of the configuration. Its descriptions are the tables of docs/configuration.md. */
export const configSchema = z
  .strictObject({
    name: name
      .default('tensorflow')
      .describe(
        "Start of the stacks' names. Projects that share an account and a region need one each.",
      ),
    image: image.default({}).describe('The serving image, built here or in ECR already.'),
    models: z
      .record(
        z
          .string()
          .regex(
            /^[A-Za-z][A-Za-z0-9-]{0,30}$/,
            'a name has letters, digits and hyphens, begins with a letter, and has at most 31 characters',
          ),
        model,
      )
      .refine((models) => Object.keys(models).length > 0, 'name at least one model')
      .describe('Models by name.'),
    environments: z
      .array(environment)
      .min(1)
      .optional()
      .describe('Accounts and regions; each gets all stacks. Default: where your credentials are.'),
    vpc: vpc
      .optional()
      .describe(
        'VPC of models, smoke tests and workers, in every environment without one of its own. Default: none.',
      ),
    encryptionKeyArn: keyArn
      .optional()
      .describe(
        '[Key of your own](private-networks.md#a-key-of-your-own) for volumes, buckets, outputs, logs and topics. Default: AWS keeps the keys.',
      ),
    formerEncryptionKeyArns: z
      .array(keyArn)
      .optional()
      .describe(
        '[Keys from before](private-networks.md#another-key) that objects and waiting requests are under: roles may continue to use them. Default: none.',
      ),
    registry: registry
      .optional()
      .describe(
        '[Model package groups](model-registry.md) and a bucket for `register`, in the first environment. Default: none.',
      ),
    redeploy: z
      .array(redeploy)
      .optional()
      .describe(
        '[What starts a deployment](model-registry.md#deploy-what-is-approved): an approved version, or an object of S3 that changes. Default: nothing.',
      ),
    tags: z.record(z.string().min(1), z.string()).default({}).describe('Tags of every resource.'),
  })
  .superRefine((config, context) => {
    const { name, image, vpc, environments = [], models, registry, redeploy = [] } = config;
    const refuse = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    environments.forEach(({ name }, i) => {
      const first = environments.findIndex((one) => one.name === name);
      if (first === i) return;
      const message = `environments[${first}] is named '${name}' too. Give each environment a name of its own`;
      refuse(['environments', i, 'name'], message);
    });
    const hasRegistry = registry !== undefined || redeploy.length > 0;
    for (const { model, other, stack } of sameStacks(name, models, 'uri' in image, hasRegistry)) {
      const message = `its stack would be ${stack}, as that of ${other} is. Give the model another name`;
      refuse(['models', model], message);
    }
    for (const [name, { endpoint }] of Object.entries(models)) {
      const field = endpoint && unrecordedData(endpoint);
      if (field) refuse(['models', name, 'endpoint', field.name], field.problem);
      const conflict = endpoint && componentConflict(endpoint);
      if (conflict) refuse(['models', name, 'endpoint', conflict.name], conflict.problem);
      const { api } = endpoint ?? {};
      const tokens = api && tokenProblem(api.auth, api.jwt);
      const path = ['models', name, 'endpoint', 'api', 'jwt'];
      if (tokens) refuse(path, `${tokens.problem}. ${tokens.fix}`);
    }
    for (const { model, field, message } of bakedProblems(config)) {
      refuse(['models', model, field], message);
    }
    for (const { model, message } of workersWithoutVpc(config)) {
      refuse(['models', model, 'batchWorker'], message);
    }
    if (!vpc) return;
    const regions = new Set(environments.filter((one) => !one.vpc).map(({ region }) => region));
    if (regions.size < 2) return;
    const list = [...regions].join(' and ');
    const message = `a VPC lies in one region, and this one is for ${list}. Give the environments a 'vpc' each`;
    refuse(['vpc'], message);
  });

/** A configuration as people write it. */
export type ServingConfigInput = z.input<typeof configSchema>;
/** A checked configuration, defaults filled in. */
export type ServingConfig = z.output<typeof configSchema>;
/** One model of a configuration. */
export type ModelConfig = ServingConfig['models'][string];
/** Its endpoint. */
export type EndpointConfig = NonNullable<ModelConfig['endpoint']>;
/** A variant of it that is named. */
export type VariantConfig = z.output<typeof endpointVariant>;
/** An inference component of it. */
export type ComponentConfig = z.output<typeof component>;
/** Its batch transform. */
export type BatchConfig = NonNullable<ModelConfig['batch']>;
/** Its workers on AWS Batch. */
export type BatchWorkerConfig = NonNullable<ModelConfig['batchWorker']>;
/** The registry of a project. */
export type RegistryConfig = z.output<typeof registry>;
/** What starts deployments from the registry. */
export type RedeployConfig = z.output<typeof redeploy>;

/** Types the configuration in an editor. */
export function defineConfig(config: ServingConfigInput): ServingConfigInput {
  return config;
}
