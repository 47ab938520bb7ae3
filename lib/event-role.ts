/** The role with which EventBridge reaches the target of a rule. */
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Aws, PhysicalName } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Where the CDK looks before it makes one. */
const ID = 'EventsRole';

/**
 * The role for events below `scope`, which rules of this account alone may use. Targets of the CDK that take no role
 * find it there.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/cross-service-confused-deputy-prevention.html
 */
export function eventsRole(scope: Construct): Role {
  const existing = scope.node.tryFindChild(ID);
  if (existing instanceof Role) return existing;
  return new Role(scope, ID, {
    roleName: PhysicalName.GENERATE_IF_NEEDED,
    assumedBy: new ServicePrincipal('events.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  });
}
