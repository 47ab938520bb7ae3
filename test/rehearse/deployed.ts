/** What the deployment left in the stand-in: read back through AWS's own APIs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DescribeEndpointCommand,
  DescribeEndpointConfigCommand,
  DescribeModelCommand,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { ACCOUNT, REGION } from './cdk.ts';

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

/** The parts of a deployment, as files. */
export interface Deployed {
  /** `model.tar.gz` as SageMaker would fetch it. */
  readonly archive: string;
  /** Address of the image in ECR, as SageMaker would pull it. */
  readonly image: string;
  /** The smoke test's function, unpacked. */
  readonly functionDirectory: string;
  /** Its samples, as the layer mounts them. */
  readonly samplesDirectory: string;
  /** What CloudFormation would send to the function as the plan. */
  readonly plan: string;
}

/** Reads the stack of an endpoint back into `directory`. */
export async function readDeployed(stackName: string, directory: string): Promise<Deployed> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const cloudFormation = new CloudFormationClient({});
  const template = await cloudFormation.send(new GetTemplateCommand({ StackName: stackName }));
  const { Resources } = JSON.parse(template.TemplateBody ?? '{}') as {
    Resources: Record<string, Resource>;
  };
  const { StackResources = [] } = await cloudFormation.send(
    new DescribeStackResourcesCommand({ StackName: stackName }),
  );
  const physicalIds = new Map(
    StackResources.map(({ LogicalResourceId, PhysicalResourceId }) => [
      LogicalResourceId,
      PhysicalResourceId,
    ]),
  );
  const find = (type: string) => {
    const found = Object.values(Resources).find(({ Type }) => Type === type);
    if (!found) throw new Error(`stack ${stackName} has no ${type}`);
    return found.Properties;
  };
  const [endpointId] = Object.entries(Resources).find(
    ([, { Type }]) => Type === 'AWS::SageMaker::Endpoint',
  ) ?? [''];
  const endpointName = nameOf(physicalIds.get(endpointId));
  const archive = join(directory, 'model.tar.gz');
  const { modelData, image } = await servedBy(endpointName);
  writeFileSync(archive, await download(modelData));
  const plan = resolveText(find('Custom::SageMakerSmokeTest').Plan, physicalIds);
  const unpack = async (code: unknown, name: string) => {
    const { S3Bucket, S3Key } = code as { S3Bucket: unknown; S3Key: string };
    const zip = join(directory, `${name}.zip`);
    writeFileSync(zip, await download(`s3://${resolveText(S3Bucket, physicalIds)}/${S3Key}`));
    execFileSync('python3', ['-m', 'zipfile', '-e', zip, join(directory, name)]);
    return join(directory, name);
  };
  return {
    archive,
    image,
    functionDirectory: await unpack(find('AWS::Lambda::Function').Code, 'function'),
    samplesDirectory: join(
      await unpack(find('AWS::Lambda::LayerVersion').Content, 'layer'),
      'samples',
    ),
    // moto names endpoints itself, whatever the template says.
    plan: JSON.stringify({ ...(JSON.parse(plan) as object), endpointName }),
  };
}

/** From the endpoint to archive and image, the way that SageMaker goes. */
async function servedBy(endpointName: string): Promise<{ modelData: string; image: string }> {
  const sagemaker = new SageMakerClient({});
  const endpoint = await sagemaker.send(
    new DescribeEndpointCommand({ EndpointName: endpointName }),
  );
  const config = await sagemaker.send(
    new DescribeEndpointConfigCommand({ EndpointConfigName: endpoint.EndpointConfigName }),
  );
  const model = await sagemaker.send(
    new DescribeModelCommand({ ModelName: config.ProductionVariants?.[0]?.ModelName }),
  );
  const { ModelDataUrl: modelData, Image: image } = model.PrimaryContainer ?? {};
  if (!modelData || !image) throw new Error(`endpoint ${endpointName} has no model data or image`);
  return { modelData, image };
}

/** The name in a physical id, which may be an ARN. */
function nameOf(physicalId: string | undefined): string {
  if (!physicalId) throw new Error('a resource of the template was not deployed');
  return physicalId.slice(physicalId.lastIndexOf('/') + 1);
}

async function download(uri: string): Promise<Uint8Array> {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
  const s3 = new S3Client({ forcePathStyle: true });
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  if (!Body) throw new Error(`${uri} is empty`);
  return Body.transformToByteArray();
}

/** A property's text, with references as CloudFormation would fill them in. */
function resolveText(
  value: unknown,
  physicalIds: ReadonlyMap<string | undefined, string | undefined>,
): string {
  if (typeof value === 'string') return value;
  const [[intrinsic, argument] = []] = Object.entries(value as Record<string, unknown>);
  switch (intrinsic) {
    case 'Fn::Join': {
      const [delimiter, parts] = argument as [string, unknown[]];
      return parts.map((part) => resolveText(part, physicalIds)).join(delimiter);
    }
    case 'Fn::Sub':
      return (argument as string)
        .replaceAll(/\$\{AWS::AccountId\}/g, ACCOUNT)
        .replaceAll(/\$\{AWS::Region\}/g, REGION);
    case 'Fn::GetAtt': {
      // Of an endpoint configuration, whose physical id is its ARN, the attribute is its name.
      const [logicalId] = argument as [string];
      return nameOf(physicalIds.get(logicalId));
    }
    default:
      throw new Error(`no rule for ${JSON.stringify(value)}`);
  }
}
