/** The network of `doctor --account`, in the EC2 of moto. */
import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateNatGatewayCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  CreateVpcEndpointCommand,
  DescribeRouteTablesCommand,
  EC2Client,
  ModifySubnetAttributeCommand,
  RevokeSecurityGroupEgressCommand,
} from '@aws-sdk/client-ec2';
import { type Moto, startMoto } from '../../../test/rehearse/moto.ts';
import type { Resources } from './assembly.ts';
import { checkNetwork } from './network.ts';

const REGION = 'us-east-1';
const serviceName = (service: string) => `com.amazonaws.${REGION}.${service}`;

let moto: Moto;
let ec2: EC2Client;

beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  moto = await startMoto();
  ec2 = new EC2Client({ endpoint: moto.url, region: REGION });
});
afterAll(async () => {
  ec2?.destroy();
  await moto?.stop();
});

/** A VPC with one private subnet and a security group. */
async function network(CidrBlock = '10.0.1.0/24') {
  const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }));
  const VpcId = Vpc?.VpcId ?? '';
  const { Subnet } = await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock }));
  const { GroupId = '' } = await ec2.send(
    new CreateSecurityGroupCommand({ VpcId, GroupName: 'serving', Description: 'serving' }),
  );
  const { RouteTables = [] } = await ec2.send(
    new DescribeRouteTablesCommand({ Filters: [{ Name: 'vpc-id', Values: [VpcId] }] }),
  );
  const main = RouteTables[0]?.RouteTableId ?? '';
  return { vpc: VpcId, subnet: Subnet?.SubnetId ?? '', group: GroupId, main };
}

/** Findings of a model in these places with this number of instances. */
function problems(subnets: unknown[], groups: unknown[], most = 1) {
  const VpcConfig = { Subnets: subnets, SecurityGroupIds: groups };
  const Lambda = { SubnetIds: subnets, SecurityGroupIds: groups };
  const resources: Resources = {
    Model: { Type: 'AWS::SageMaker::Model', Properties: { VpcConfig } },
    Smoke: { Type: 'AWS::Lambda::Function', Properties: { VpcConfig: Lambda } },
    Bucket: { Type: 'AWS::S3::Bucket' },
  };
  return problemsOf(resources, most);
}

/** What is not fine, by what it is of. */
async function problemsOf(resources: Resources, most: number) {
  const fleet = { type: 'ml.m5.large', use: 'endpoint' as const, atFirst: most, most };
  const findings = await checkNetwork(ec2, [
    {
      ...{ name: 'serving', account: undefined, region: REGION, bootstrapVersion: 6 },
      qualifier: 'hnb659fds',
      ...{ amis: [], images: [], isScaled: false, isServerless: false, resources },
      workers: [],
      fleets: [{ ...fleet, hasOthers: false }],
    },
  ]);
  const wrong = findings.filter(({ ok }) => !ok);
  return Object.fromEntries(
    wrong.map(({ what, detail }) => [what.replace(/^vpc-\w+ /, ''), detail]),
  );
}

async function endpoint(
  VpcId: string,
  service: string,
  more: object,
  ServiceName = serviceName(service),
): Promise<void> {
  await ec2.send(new CreateVpcEndpointCommand({ VpcId, ServiceName, ...more }));
}

const INTERFACES = ['sagemaker.api', 'sagemaker.runtime', 'cloudformation'];

test('a private subnet needs each endpoint, and has nothing to say once they are there', async () => {
  const { vpc, subnet, group, main } = await network();
  const found = await problems([subnet], [group]);
  expect(Object.keys(found)).toEqual(['s3', ...INTERFACES]);
  expect(found.s3).toBe(
    `${subnet} have no NAT, and the VPC has no endpoint of it: make a gateway endpoint of ${serviceName('s3')}, or a NAT gateway`,
  );
  expect(found['sagemaker.api']).toContain('make an interface endpoint');
  const Gateway = { VpcEndpointType: 'Gateway' };
  await endpoint(vpc, 's3', Gateway);
  const Interface = { VpcEndpointType: 'Interface', SubnetIds: [subnet] };
  for (const service of INTERFACES)
    await endpoint(vpc, service, { ...Interface, PrivateDnsEnabled: service !== 'cloudformation' });
  expect(await problems([subnet], [group])).toEqual({
    s3: expect.stringContaining('its endpoint is not in their route tables'),
    cloudformation: expect.stringContaining('its endpoint has no private DNS'),
  });
  await endpoint(vpc, 's3', { ...Gateway, RouteTableIds: [main] });
  const isPrivate = { ...Interface, PrivateDnsEnabled: true };
  // As some services are named in China.
  await endpoint(vpc, 'cloudformation', isPrivate, `cn.${serviceName('cloudformation')}`);
  expect(await problems([subnet], [group])).toEqual({});
});

test('a worker needs the endpoints of ECS, ECR and the logs, and SNS for its notices', async () => {
  const { vpc, subnet, group, main } = await network();
  const ComputeResources = { Subnets: [subnet], SecurityGroupIds: [group] };
  const worker = (Command: string[]): Resources => ({
    Instances: { Type: 'AWS::Batch::ComputeEnvironment', Properties: { ComputeResources } },
    Job: {
      Type: 'AWS::Batch::JobDefinition',
      Properties: { ContainerProperties: { Command } },
    },
  });
  const needed = ['s3', 'ecs', 'ecs-agent', 'ecs-telemetry', 'ecr.api', 'ecr.dkr', 'logs'];
  const telling = worker(['--notice-topic=arn']);
  expect(Object.keys(await problemsOf(worker([]), 0))).toEqual(needed);
  expect(Object.keys(await problemsOf(telling, 0))).toEqual([...needed, 'sns']);
  const model = { Type: 'AWS::SageMaker::Model', Properties: { VpcConfig: ComputeResources } };
  expect(Object.keys(await problemsOf({ ...telling, Model: model }, 0))).toEqual([
    ...['s3', ...INTERFACES, ...needed.slice(1), 'sns'],
  ]);
  // An instance with a public address needs no more than an internet gateway.
  const { InternetGateway } = await ec2.send(new CreateInternetGatewayCommand({}));
  const GatewayId = InternetGateway?.InternetGatewayId ?? '';
  await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: GatewayId, VpcId: vpc }));
  const out = { RouteTableId: main, DestinationCidrBlock: '0.0.0.0/0', GatewayId };
  await ec2.send(new CreateRouteCommand(out));
  expect(Object.keys(await problemsOf(telling, 0))).toEqual([...needed, 'sns']);
  await ec2.send(
    new ModifySubnetAttributeCommand({ SubnetId: subnet, MapPublicIpOnLaunch: { Value: true } }),
  );
  expect(await problemsOf(telling, 0)).toEqual({});
  expect(Object.keys(await problems([subnet], [group]))).toEqual(['s3', ...INTERFACES]);
});

test('a NAT gateway is enough, and an internet gateway is not', async () => {
  const { vpc, subnet, group, main } = await network();
  const out = { RouteTableId: main, DestinationCidrBlock: '0.0.0.0/0' };
  const { NatGateway } = await ec2.send(
    new CreateNatGatewayCommand({ SubnetId: subnet, ConnectivityType: 'private' }),
  );
  const NatGatewayId = NatGateway?.NatGatewayId;
  // A table that the subnet does not use changes nothing.
  const { RouteTable } = await ec2.send(new CreateRouteTableCommand({ VpcId: vpc }));
  const unused = { ...out, RouteTableId: RouteTable?.RouteTableId, NatGatewayId };
  await ec2.send(new CreateRouteCommand(unused));
  expect(Object.keys(await problems([subnet], [group]))).toEqual(['s3', ...INTERFACES]);
  await ec2.send(new CreateRouteCommand({ ...out, NatGatewayId }));
  expect(await problems([subnet], [group])).toEqual({});
});

test('closed security groups, too few addresses, and a subnet that is not there', async () => {
  const { subnet, group } = await network('10.0.2.0/28');
  const found = await problems([subnet], [group], 40);
  expect(found['addresses of the subnets']).toMatch(/^11 free, and AWS advises 80/);
  const all = { IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] };
  await ec2.send(new RevokeSecurityGroupEgressCommand({ GroupId: group, IpPermissions: [all] }));
  expect((await problems([subnet], [group]))['security groups']).toBe(
    `${group} let no HTTPS out: add a rule for outbound TCP 443`,
  );
  await expect(problems(['subnet-00000000'], [group])).rejects.toThrow('subnet-00000000');
});

test('what the app makes itself is not looked at, and without a VPC there is nothing to say', async () => {
  expect(await problems([{ Ref: 'Subnet' }], [{ 'Fn::GetAtt': ['Group', 'GroupId'] }])).toEqual({});
  expect(await checkNetwork(ec2, [])).toEqual([]);
});
