/** What an account has of what a deployment needs; only reads. */
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateDescribeStacks,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { EC2Client } from '@aws-sdk/client-ec2';
import { DescribeImagesCommand, ECRClient } from '@aws-sdk/client-ecr';
import { GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { parseEcrImage } from '@sagemaker-tfs/batch';
import { isRegionMissing } from '../batch/aws/aws-error.ts';
import { usageError } from '../errors.ts';
import {
  DEFAULT_QUALIFIER,
  type Fleet,
  type PlannedStack,
  type PlannedVariant,
  resourcesOf,
  scaledVariants,
  typesOf,
  variantsOf,
} from './assembly.ts';
import type { AccountFinding } from './finding.ts';
import { checkNetwork } from './network.ts';
import { quotaLimits } from './quota-limits.ts';
import { checkRunning } from './running.ts';
import { reachable } from './whose.ts';
import { checkWorkerQuotas } from './worker-quotas.ts';

type Check = () => Promise<AccountFinding[]>;

/**
 * Everything that the stacks of one region need.
 * @param region undefined: that of the environment
 * @throws CommandError USAGE if the environment has none either
 */
export async function checkAccount(
  all: readonly PlannedStack[],
  region: string | undefined,
): Promise<AccountFinding[]> {
  const where = region === undefined ? {} : { region };
  const cloudFormation = new CloudFormationClient(where);
  const quotas = new ServiceQuotasClient(where);
  const ecr = new ECRClient(where);
  const iam = new IAMClient(where);
  const ec2 = new EC2Client(where);
  const sageMaker = new SageMakerClient(where);
  const clients = { cloudFormation, quotas, ecr, iam, ec2, sageMaker };
  try {
    await requireRegion(cloudFormation);
    const { stacks, findings } = await reachable(ecr, all);
    if (stacks.length === 0) return [...findings];
    const checks = checksOf(clients, stacks);
    const found = await Promise.all(checks.map(([what, check]) => guarded(what, check)));
    return [...findings, ...found.flat(), ...hostsOf(stacks)];
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
}

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly quotas: ServiceQuotasClient;
  readonly ecr: ECRClient;
  readonly iam: IAMClient;
  readonly ec2: EC2Client;
  readonly sageMaker: SageMakerClient;
}

function checksOf(
  { cloudFormation, quotas, ecr, iam, ec2, sageMaker }: Clients,
  stacks: readonly PlannedStack[],
): (readonly [what: string, check: Check])[] {
  const fleets = stacks.flatMap((stack) => stack.fleets);
  const workers = stacks.flatMap((stack) => stack.workers);
  return [
    ['bootstrap', () => checkBootstrap(cloudFormation, stacks)],
    ...stacks.map(({ name, resources }): [string, Check] => [
      `stack ${name}`,
      () => checkStack(cloudFormation, name, resources),
    ]),
    ...stacks.map(({ name, resources }): [string, Check] => [
      `endpoint of ${name}`,
      () => checkRunning({ cloudFormation, sageMaker }, name, resources),
    ]),
    ['quotas', () => checkQuotas(quotas, fleets)],
    ['EC2 quotas', () => checkWorkerQuotas(quotas, workers)],
    ['images', () => checkImages(ecr, stacks)],
    ['roles', () => checkRoles(iam, stacks)],
    ['VPC', () => checkNetwork(ec2, stacks)],
  ];
}

async function requireRegion({ config }: CloudFormationClient): Promise<void> {
  await config.region().catch((error: unknown) => {
    if (!isRegionMissing(error)) throw error;
    throw usageError(
      'no AWS region is set, and the app names none. Set AWS_REGION, or the region of the profile.',
    );
  });
}

/** A service that does not answer is a finding, so that the others are still reported. */
async function guarded(what: string, check: Check): Promise<AccountFinding[]> {
  try {
    return await check();
  } catch (error) {
    const { name = 'Error', message = String(error) } = error as Partial<Error>;
    return [{ what, ok: false, detail: `cannot be asked: ${name}: ${message}` }];
  }
}

async function checkBootstrap(
  client: CloudFormationClient,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding[]> {
  const qualifiers = [...new Set(stacks.map(({ qualifier }) => qualifier))];
  return Promise.all(
    qualifiers.map((qualifier) =>
      checkToolkit(
        client,
        qualifier,
        stacks.filter((stack) => stack.qualifier === qualifier),
      ),
    ),
  );
}

async function checkToolkit(
  client: CloudFormationClient,
  qualifier: string,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding> {
  const isDefault = qualifier === DEFAULT_QUALIFIER;
  const what = isDefault ? 'bootstrap' : `bootstrap '${qualifier}'`;
  const needed = Math.max(0, ...stacks.map(({ bootstrapVersion }) => bootstrapVersion));
  const version = await toolkitVersion(client, qualifier);
  if (version !== undefined && version >= needed) {
    return { what, ok: true, detail: `version ${version}` };
  }
  const found =
    version === undefined
      ? 'not done in this region'
      : `version ${version}, and ${needed} is needed`;
  const options = isDefault ? '' : ` --qualifier ${qualifier}`;
  return { what, ok: false, detail: `${found}: npx cdk bootstrap${options}` };
}

/** Version of the bootstrap with a qualifier, whatever its stack is called; undefined if there is none. */
async function toolkitVersion(
  client: CloudFormationClient,
  qualifier: string,
): Promise<number | undefined> {
  const usual = versionOf(await describe(client, 'CDKToolkit'), qualifier);
  if (usual !== undefined) return usual;
  for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {})) {
    for (const stack of Stacks) {
      const version = versionOf(stack, qualifier);
      if (version !== undefined) return version;
    }
  }
  return undefined;
}

function versionOf(stack: Stack | undefined, qualifier: string): number | undefined {
  const output = stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion');
  const parameter = stack?.Parameters?.find(({ ParameterKey }) => ParameterKey === 'Qualifier');
  const own = parameter?.ParameterValue ?? DEFAULT_QUALIFIER;
  return output && own === qualifier ? Number(output.OutputValue) : undefined;
}

async function describe(client: CloudFormationClient, StackName: string) {
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    return Stacks?.[0];
  } catch (error) {
    if (/does not exist/.test(String(error))) return undefined;
    throw error;
  }
}

/** States from which no deployment continues by itself, with what helps. */
const STUCK: Readonly<Record<string, string>> = {
  ROLLBACK_COMPLETE: 'its first deployment failed: delete the stack, then deploy',
  UPDATE_ROLLBACK_FAILED: 'aws cloudformation continue-update-rollback, once its cause is gone',
  DELETE_FAILED: 'delete what its events name, then the stack',
};

/** Whether a deployment can continue from the stack's state, and SageMaker takes the update. */
async function checkStack(
  client: CloudFormationClient,
  name: string,
  after: PlannedStack['resources'],
): Promise<AccountFinding[]> {
  const what = `stack ${name}`;
  const stack = await describe(client, name);
  if (!stack) return [{ what, ok: true, detail: 'new' }];
  const status = stack.StackStatus ?? '';
  const advice = STUCK[status];
  if (advice) return [{ what, ok: false, detail: `${status}: ${advice}` }];
  // The CDK takes such a stack for one that is not there.
  if (status === 'REVIEW_IN_PROGRESS')
    return [{ what, ok: true, detail: `${status}: new, its change set was not executed` }];
  if (/_IN_PROGRESS$/.test(status))
    return [{ what, ok: false, detail: `${status}: wait for its end` }];
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: name }));
  const before = resourcesOf(TemplateBody);
  const scaled = scaledVariants(before);
  const now = variantsOf(after);
  const refused = variantsOf(before).flatMap((variant) => {
    if (!scaled.has(variant.VariantName)) return [];
    return refusedChange(
      variant,
      now.find(({ VariantName }) => VariantName === variant.VariantName),
    );
  });
  if (refused.length === 0) return [{ what, ok: true, detail: status }];
  const detail = `SageMaker refuses this change of a scaled variant (${refused.join(', ')}): deploy first with scaling.registered: false`;
  return [{ what, ok: false, detail }];
}

/**
 * What an update may not change of a variant while Application Auto Scaling knows it.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html
 */
function refusedChange(before: PlannedVariant, after: PlannedVariant | undefined): string[] {
  const { VariantName } = before;
  if (!after) return [`${VariantName}: removed or renamed`];
  const [were, are] = [typesOf(before).join(' or '), typesOf(after).join(' or ')];
  return were !== '' && are !== '' && were !== are ? [`${VariantName}: ${were} to ${are}`] : [];
}

async function checkQuotas(
  client: ServiceQuotasClient,
  fleets: readonly Fleet[],
): Promise<AccountFinding[]> {
  if (fleets.length === 0) return [];
  const limits = await quotaLimits(client, 'sagemaker', 'QuotaName');
  const names = new Set(fleets.map(({ type, use }) => `${type} for ${use} usage`));
  return [...names].map((name) => {
    const own = fleets.filter(({ type, use }) => name === `${type} for ${use} usage`);
    // Endpoints are there at the same time; of jobs, the largest run counts.
    const needs = own.map(({ most }) => most);
    const sum = needs.reduce((total, most) => total + most, 0);
    const needed = own[0]?.use === 'endpoint' ? sum : Math.max(...needs);
    const limit = limits.get(name) ?? 0;
    const detail = `${limit}, and ${needed} needed${own[0]?.use === 'endpoint' ? ' with the second fleet of an update' : ''}`;
    if (limit >= needed) return { what: name, ok: true, detail };
    const others = own.every(({ hasOthers }) => hasOthers);
    const advice = others ? 'jobs continue with the next type' : `ask Service Quotas for ${needed}`;
    return { what: name, ok: others, detail: `${detail}: ${advice}` };
  });
}

/**
 * Bytes of the largest image of a serverless endpoint. ECR tells the size as it is stored, compressed.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html
 */
const MAX_SERVERLESS_IMAGE = 10e9;

async function checkImages(
  client: ECRClient,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding[]> {
  const images = stacks.flatMap((stack) => stack.images);
  return Promise.all(
    [...new Set(images)].map(async (uri): Promise<AccountFinding> => {
      const image = parseEcrImage(uri);
      if (!image) return { what: uri, ok: false, detail: 'no address of ECR' };
      const { account: registryId, repository: repositoryName, tag, digest } = image;
      const imageIds = [digest ? { imageDigest: digest } : { imageTag: tag ?? 'latest' }];
      try {
        const { imageDetails = [] } = await client.send(
          new DescribeImagesCommand({ registryId, repositoryName, imageIds }),
        );
        const { imageManifestMediaType: type = '', imageSizeInBytes: size = 0 } =
          imageDetails[0] ?? {};
        const isServerless = stacks.some(
          (stack) => stack.isServerless && stack.images.includes(uri),
        );
        if (isServerless && size > MAX_SERVERLESS_IMAGE) {
          const detail = `it has ${(size / 1e9).toFixed(1)} GB compressed, and a serverless endpoint takes 10 GB: use the 'cpu' or 'in-process' image`;
          return { what: uri, ok: false, detail };
        }
        // https://github.com/aws/amazon-sagemaker-feedback/issues/180
        if (!type.includes('oci')) return { what: uri, ok: true, detail: type || 'there' };
        const detail = `its manifest is ${type}, which CreateModel is reported to refuse: push it with docker build --provenance=false --output type=docker`;
        return { what: uri, ok: false, detail };
      } catch (error) {
        const { name, message } = error as Error;
        return { what: uri, ok: false, detail: `${name}: ${message}` };
      }
    }),
  );
}

const SCALING_ROLE = 'AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint';

async function checkRoles(
  client: IAMClient,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding[]> {
  if (!stacks.some(({ isScaled }) => isScaled)) return [];
  const what = 'role of autoscaling';
  try {
    await client.send(new GetRoleCommand({ RoleName: SCALING_ROLE }));
    return [{ what, ok: true, detail: SCALING_ROLE }];
  } catch (error) {
    if ((error as Error).name !== 'NoSuchEntityException') throw error;
    const detail = `${SCALING_ROLE} is not there yet: the deployment makes it, with iam:CreateServiceLinkedRole`;
    return [{ what, ok: true, detail }];
  }
}

function hostsOf(stacks: readonly PlannedStack[]): AccountFinding[] {
  const amis = [...new Set(stacks.flatMap((stack) => stack.amis))];
  return amis.map((ami) => ({
    what: 'host image',
    ok: true,
    detail: `${ami}; no call lists them`,
  }));
}
