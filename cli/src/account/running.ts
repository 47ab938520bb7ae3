/** Whether the instances that run now are enough for what a deployment asks of them. */
import {
  type CloudFormationClient,
  DescribeStackResourcesCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeEndpointCommand, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import * as z from 'zod';
import { type Resources, resourcesOf, scaledVariants, variantsOf } from './assembly.ts';
import type { AccountFinding } from './finding.ts';

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly sageMaker: SageMakerClient;
}

/** Compares the endpoints of a stack that is deployed with what its new template does to them. */
export async function checkRunning(
  clients: Clients,
  stack: string,
  after: Resources,
): Promise<AccountFinding[]> {
  const before = await templateOf(clients.cloudFormation, stack);
  const ids = endpointsOf(after).filter((id) => before[id]);
  const partly = new Set(ids.filter((id) => movesPart(after[id]) && isUpdated(id, before, after)));
  const freed = unregistered(before, after);
  if (freed.size === 0 && partly.size === 0) return [];
  const findings = await Promise.all(
    ids.map(async (id) => {
      const { name, variants } = await running(clients, stack, id);
      return variants.flatMap(([variant, count]): AccountFinding[] => {
        const what = `instances of ${name}`;
        if (count === 0 && freed.has(variant))
          return [{ what, ok: false, detail: sleeping(name, variant) }];
        return partly.has(id) && count < FEWEST_FOR_PARTS
          ? [{ what, ok: false, detail: tooFew(variant, count) }]
          : [];
      });
    }),
  );
  return findings.flat();
}

/**
 * At most half of the instances move at a time.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TrafficRoutingConfig.html
 */
const FEWEST_FOR_PARTS = 2;

function tooFew(variant: string, count: number): string {
  return `${variant} runs ${count}, an update keeps that number, and its traffic moves part of a fleet: SageMaker refuses it. Deploy with scaling.minInstances of 2 and without deployment.traffic first, wait until 2 run, then deploy this`;
}

/** @see https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html */
function sleeping(name: string, variant: string): string {
  return `${variant} sleeps, and without autoscaling nothing starts an instance. After the deployment: aws sagemaker update-endpoint-weights-and-capacities --endpoint-name ${name} --desired-weights-and-capacities VariantName=${variant},DesiredInstanceCount=1`;
}

async function templateOf(client: CloudFormationClient, StackName: string): Promise<Resources> {
  try {
    const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName }));
    return resourcesOf(TemplateBody);
  } catch (error) {
    if (/does not exist/.test(String(error))) return {};
    throw error;
  }
}

const endpointsOf = (resources: Resources): string[] =>
  Object.entries(resources).flatMap(([id, { Type }]) =>
    Type === 'AWS::SageMaker::Endpoint' ? [id] : [],
  );

const endpointSchema = z.object({
  RetainAllVariantProperties: z.literal(true),
  DeploymentConfig: z.object({
    RollingUpdatePolicy: z.unknown().optional(),
    BlueGreenUpdatePolicy: z
      .object({ TrafficRoutingConfiguration: z.object({ Type: z.string() }) })
      .optional(),
  }),
});

/** Whether an update keeps the number of instances, and moves them part by part. */
function movesPart(endpoint: Resources[string] | undefined): boolean {
  const { data } = endpointSchema.safeParse(endpoint?.Properties);
  if (!data) return false;
  const { RollingUpdatePolicy: rolling, BlueGreenUpdatePolicy: guarded } = data.DeploymentConfig;
  const type = guarded?.TrafficRoutingConfiguration.Type ?? 'ALL_AT_ONCE';
  return rolling !== undefined || type !== 'ALL_AT_ONCE';
}

/** Whether the endpoint stays, and gets a configuration, which has a logical id of its own, or another property. */
function isUpdated(id: string, before: Resources, after: Resources): boolean {
  const [were, are] = [before[id]?.Properties, after[id]?.Properties];
  const isKept = JSON.stringify(were?.EndpointName) === JSON.stringify(are?.EndpointName);
  return isKept && JSON.stringify(were) !== JSON.stringify(are);
}

/** Variants that autoscaling watches until this deployment. */
function unregistered(before: Resources, after: Resources): ReadonlySet<string> {
  const still = scaledVariants(after);
  const names = new Set(variantsOf(after).map(({ VariantName }) => VariantName));
  const were = [...scaledVariants(before).keys()];
  return new Set(were.filter((name) => names.has(name) && !still.has(name)));
}

/** How many instances each variant should have now. */
async function running({ cloudFormation, sageMaker }: Clients, stack: string, id: string) {
  const { StackResources: [resource] = [] } = await cloudFormation.send(
    new DescribeStackResourcesCommand({ StackName: stack, LogicalResourceId: id }),
  );
  // An ARN, whose capitals may be lost.
  const name = resource?.PhysicalResourceId?.split('/').at(-1) ?? '';
  const { EndpointName = name, ProductionVariants = [] } = await sageMaker.send(
    new DescribeEndpointCommand({ EndpointName: name }),
  );
  const variants = ProductionVariants.map(
    ({ VariantName = '', DesiredInstanceCount, CurrentInstanceCount = 0 }) =>
      [VariantName, DesiredInstanceCount ?? CurrentInstanceCount] as const,
  );
  return { name: EndpointName, variants };
}
