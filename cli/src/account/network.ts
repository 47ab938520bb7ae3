/**
 * Whether the subnets of an app can reach what its models, its smoke test and its workers call (docs/private-networks.md).
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc-internet.html
 * @see https://docs.aws.amazon.com/batch/latest/userguide/vpc-endpoint-considerations.html
 */
import {
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  type EC2Client,
  type IpPermission,
  paginateDescribeRouteTables,
  paginateDescribeVpcEndpoints,
  type RouteTable,
  type RouteTableAssociation,
  type Subnet,
  type VpcEndpoint,
} from '@aws-sdk/client-ec2';
import * as z from 'zod';
import type { PlannedStack } from './assembly.ts';
import type { AccountFinding } from './finding.ts';

/** Services that are called, by the end of the endpoint's name. */
const CALLED = {
  models: ['s3', 'sagemaker.api', 'sagemaker.runtime', 'cloudformation'],
  workers: ['s3', 'ecs', 'ecs-agent', 'ecs-telemetry', 'ecr.api', 'ecr.dkr', 'logs'],
} as const;
/** Free addresses that AWS advises for each instance. */
const ADDRESSES = 2;
const HTTPS = 443;

/** Ids alone: what the app makes itself is a reference, and not there yet. */
const configSchema = z.object({
  Subnets: z.array(z.unknown()).optional(),
  SubnetIds: z.array(z.unknown()).optional(),
  SecurityGroupIds: z.array(z.unknown()).optional(),
});

/** The models with their smoke tests, or the workers on AWS Batch. */
interface Party {
  readonly isWorkers: boolean;
  readonly services: readonly string[];
  /** Subnets and security groups that the stacks name. */
  readonly subnets: readonly string[];
  readonly groups: readonly string[];
  /** Whether the app makes some of them itself. */
  readonly makesSome: boolean;
}

function partyOf(stacks: readonly PlannedStack[], isWorkers: boolean): Party {
  const configs = stacks
    .flatMap(({ resources }) => Object.values(resources))
    .map(({ Properties = {} }) => (isWorkers ? Properties.ComputeResources : Properties.VpcConfig))
    .map((config) => configSchema.safeParse(config).data ?? {});
  const subnets = configs.flatMap(({ Subnets = [], SubnetIds = [] }) => [...Subnets, ...SubnetIds]);
  const groups = configs.flatMap(({ SecurityGroupIds = [] }) => SecurityGroupIds);
  const idsOf = (all: readonly unknown[]) => [
    ...new Set(all.filter((one) => typeof one === 'string')),
  ];
  const tells = isWorkers && JSON.stringify(stacks).includes('--notice-topic');
  return {
    isWorkers,
    services: [...CALLED[isWorkers ? 'workers' : 'models'], ...(tells ? ['sns'] : [])],
    subnets: idsOf(subnets),
    groups: idsOf(groups),
    makesSome: [...subnets, ...groups].some((one) => typeof one !== 'string'),
  };
}

/**
 * Looks at routes, endpoints, security groups and free addresses.
 * @returns nothing for stacks without a VPC
 */
export async function checkNetwork(
  client: EC2Client,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding[]> {
  const parties = [false, true].map((isWorkers) => partyOf(stacks, isWorkers));
  const made: AccountFinding[] = parties.some(({ makesSome }) => makesSome)
    ? [{ what: 'VPC', ok: true, detail: 'the app makes parts of it; those are not looked at' }]
    : [];
  const found = await Promise.all(parties.map((party) => checkParty(client, party, stacks)));
  // What both need is reported once.
  const byText = found.flat().map((one) => [`${one.what}: ${one.detail}`, one] as const);
  return [...made, ...new Map(byText).values()];
}

async function checkParty(
  client: EC2Client,
  party: Party,
  stacks: readonly PlannedStack[],
): Promise<AccountFinding[]> {
  const { subnets: ids, groups, isWorkers } = party;
  if (ids.length === 0) return [];
  const { Subnets = [] } = await client.send(new DescribeSubnetsCommand({ SubnetIds: [...ids] }));
  const vpcs = [...new Set(Subnets.flatMap(({ VpcId }) => VpcId ?? []))];
  const ways = await Promise.all(
    vpcs.map((vpc) =>
      waysOut(
        client,
        vpc,
        Subnets.filter(({ VpcId }) => VpcId === vpc),
        party,
      ),
    ),
  );
  return [
    ...ways.flat(),
    ...(await checkGroups(client, groups)),
    ...(isWorkers ? [] : [freeAddresses(Subnets, stacks)]),
  ];
}

/** How the subnets of one VPC reach the services: by a route to the internet, or by endpoints. */
async function waysOut(
  client: EC2Client,
  vpc: string,
  subnets: readonly Subnet[],
  { services, isWorkers }: Party,
): Promise<AccountFinding[]> {
  const Filters = [{ Name: 'vpc-id', Values: [vpc] }];
  const tables: RouteTable[] = [];
  for await (const { RouteTables = [] } of paginateDescribeRouteTables({ client }, { Filters }))
    tables.push(...RouteTables);
  const endpoints: VpcEndpoint[] = [];
  for await (const { VpcEndpoints = [] } of paginateDescribeVpcEndpoints({ client }, { Filters }))
    endpoints.push(...VpcEndpoints);
  // Instances of AWS Batch may have public addresses; interfaces of SageMaker and Lambda have none.
  const closed = subnets.filter(
    (subnet) =>
      !hasWayOut(tableOf(tables, subnet), isWorkers && subnet.MapPublicIpOnLaunch === true),
  );
  if (closed.length === 0)
    return [{ what: vpc, ok: true, detail: 'its subnets have a route to the internet' }];
  const region = String(await client.config.region());
  const ids = closed.map(({ SubnetId }) => SubnetId).join(', ');
  const tablesOfClosed = closed.map((subnet) => tableOf(tables, subnet));
  return services.map((service) => {
    const name = `com.amazonaws.${region}.${service}`;
    const problem = problemOf(
      // China's regions have both forms, each service one of them.
      // https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/aws-services-privatelink-support.html
      endpoints.filter(({ ServiceName }) => ServiceName === name || ServiceName === `cn.${name}`),
      tablesOfClosed,
    );
    return problem === undefined
      ? { what: `${vpc} ${service}`, ok: true, detail: name }
      : {
          what: `${vpc} ${service}`,
          ok: false,
          detail: `${ids} have no NAT, and ${problem}: make ${service === 's3' ? 'a gateway' : 'an interface'} endpoint of ${name}, or a NAT gateway`,
        };
  });
}

/** Its own table, or the main one of the VPC. */
function tableOf(tables: readonly RouteTable[], { SubnetId }: Subnet): RouteTable | undefined {
  const has = (matches: (one: RouteTableAssociation) => boolean) =>
    tables.find(({ Associations = [] }) => Associations.some(matches));
  return has((one) => one.SubnetId === SubnetId) ?? has(({ Main }) => Main === true);
}

/** An internet gateway is one for public addresses only. */
function hasWayOut(table: RouteTable | undefined, isPublic: boolean): boolean {
  return (table?.Routes ?? []).some(
    ({ DestinationCidrBlock, GatewayId = '', State, ...to }) =>
      DestinationCidrBlock === '0.0.0.0/0' &&
      State !== 'blackhole' &&
      (GatewayId.startsWith('vgw-') ||
        (isPublic && GatewayId.startsWith('igw-')) ||
        [to.NatGatewayId, to.TransitGatewayId, to.NetworkInterfaceId, to.InstanceId].some(Boolean)),
  );
}

/** What the endpoints of one service lack; undefined if nothing. */
function problemOf(
  endpoints: readonly VpcEndpoint[],
  tables: readonly (RouteTable | undefined)[],
): string | undefined {
  const available = endpoints.filter(({ State }) => State?.toLowerCase() === 'available');
  if (available.length === 0) return 'the VPC has no endpoint of it';
  const gateways = available.filter((one) => one.VpcEndpointType === 'Gateway');
  const reaches = ({ RouteTableIds = [] }: VpcEndpoint) =>
    tables.every((table) => RouteTableIds.includes(table?.RouteTableId ?? ''));
  if (gateways.some(reaches)) return undefined;
  const interfaces = available.filter((one) => one.VpcEndpointType !== 'Gateway');
  if (interfaces.some(({ PrivateDnsEnabled }) => PrivateDnsEnabled)) return undefined;
  return interfaces.length > 0
    ? 'its endpoint has no private DNS'
    : 'its endpoint is not in their route tables';
}

async function checkGroups(client: EC2Client, ids: readonly string[]): Promise<AccountFinding[]> {
  if (ids.length === 0) return [];
  const { SecurityGroups = [] } = await client.send(
    new DescribeSecurityGroupsCommand({ GroupIds: [...ids] }),
  );
  const isOpen = SecurityGroups.some(({ IpPermissionsEgress = [] }) =>
    IpPermissionsEgress.some(letsHttpsOut),
  );
  const what = 'security groups';
  if (isOpen) return [{ what, ok: true, detail: ids.join(', ') }];
  const detail = `${ids.join(', ')} let no HTTPS out: add a rule for outbound TCP ${HTTPS}`;
  return [{ what, ok: false, detail }];
}

function letsHttpsOut({ IpProtocol, FromPort = 0, ToPort = 65_535 }: IpPermission): boolean {
  if (IpProtocol === '-1') return true;
  return (IpProtocol === 'tcp' || IpProtocol === '6') && FromPort <= HTTPS && ToPort >= HTTPS;
}

function freeAddresses(
  subnets: readonly Subnet[],
  stacks: readonly PlannedStack[],
): AccountFinding {
  const free = subnets.reduce((sum, one) => sum + (one.AvailableIpAddressCount ?? 0), 0);
  const instances = stacks
    .flatMap(({ fleets }) => fleets)
    .reduce((sum, { most, hasOthers }) => sum + (hasOthers ? 0 : most), 0);
  const needed = ADDRESSES * instances;
  const detail = `${free} free, and AWS advises ${needed}: ${ADDRESSES} for each instance, the second fleet of an update included`;
  return { what: 'addresses of the subnets', ok: free >= needed, detail };
}
