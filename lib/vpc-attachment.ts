/** A VPC with subnets and security groups, for models and for the smoke test's function. */
import {
  Connections,
  type ISecurityGroup,
  type IVpc,
  SecurityGroup,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import type { AnyVpc } from './cdk-types.ts';
import { invalidProp } from './validation.ts';

/** Props of whatever can run inside a VPC. */
export interface VpcAttachmentProps {
  /**
   * VPC to run in. It needs a way to the AWS services in use: gateway and interface endpoints, or NAT.
   * @default - the service's own network
   */
  readonly vpc?: AnyVpc;
  /**
   * Subnets of `vpc`.
   * @default - its private subnets; if it has none, what the CDK selects instead
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Security groups in `vpc`.
   * @default - a new one that allows all outbound traffic
   */
  readonly securityGroups?: readonly ISecurityGroup[];
}

/** Subnets and security groups as SageMaker takes them. */
export interface VpcAttachment {
  readonly config: { readonly subnets: string[]; readonly securityGroupIds: string[] };
  readonly connections: Connections;
}

/** Resolves the props; undefined without a VPC. @throws if there is more without a `vpc` */
export function attachToVpc(
  scope: Construct,
  props: VpcAttachmentProps,
): VpcAttachment | undefined {
  const { vpc } = props;
  if (!vpc) {
    for (const prop of ['vpcSubnets', 'securityGroups'] as const) {
      if (props[prop]) invalidProp(scope, prop, `given without 'vpc'`, `Give 'vpc' too`);
    }
    return undefined;
  }
  const securityGroups = props.securityGroups ?? [
    new SecurityGroup(scope, 'SecurityGroup', {
      vpc: vpc as IVpc,
      description: scope.node.path,
    }),
  ];
  return {
    config: {
      subnets: vpc.selectSubnets(props.vpcSubnets).subnetIds,
      securityGroupIds: securityGroups.map(({ securityGroupId }) => securityGroupId),
    },
    connections: new Connections({ securityGroups: [...securityGroups] }),
  };
}
