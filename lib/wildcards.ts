/** Every `*` in a policy, and every policy of AWS's own, has a written reason, in the form that cdk-nag reads. */
import { Stack, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Writes a resolved CloudFormation value as cdk-nag names it: `arn:<AWS::Partition>:s3:::<Data.Arn>/*`. */
function flatten(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('${', '<').replaceAll('}', '>');
  if (typeof value !== 'object' || value === null) return '';
  if ('Fn::Join' in value) {
    const [delimiter, items] = value['Fn::Join'] as [string, unknown[]];
    return items.map(flatten).join(delimiter);
  }
  if ('Fn::Sub' in value) return flatten(value['Fn::Sub']);
  if ('Fn::GetAtt' in value) return `<${(value['Fn::GetAtt'] as string[]).join('.')}>`;
  if ('Ref' in value) return `<${value.Ref}>`;
  return JSON.stringify(value);
}

/**
 * Says why a policy of `scope` names a resource with `*`.
 * @param scope the role or policy, or a construct around it
 * @param resource as it stands in the policy
 */
export function justifyWildcard(scope: Construct, resource: string, reason: string): void {
  const finding = flatten(Stack.of(scope).resolve(resource));
  Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
}

/**
 * Says why a role below `scope` has a policy that AWS manages.
 * @param name the policy's, with its path
 */
export function justifyManagedPolicy(scope: Construct, name: string, reason: string): void {
  const finding = `Policy::arn:<AWS::Partition>:iam::aws:policy/${name}`;
  Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM4[${finding}]`, reason });
}
