/** What the policies of a template allow. */
import type { Template } from 'aws-cdk-lib/assertions';

/** What references stand for. */
interface Deployed {
  readonly region: string;
  readonly account: string;
  /** Of every resource whose name the template asks for. */
  readonly name: string;
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Whether any policy of the template that is attached to a role allows an action on a resource. Conditions are passed over. */
export function allowedBy(template: Template, deployed: Deployed) {
  const statements = Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
    ({ Properties }) => Properties.PolicyDocument.Statement as Statement[],
  );
  return (action: string, arn: string) =>
    statements.some(
      ({ Effect, Action, Resource }) =>
        Effect === 'Allow' &&
        [Action].flat().includes(action) &&
        [Resource].flat().some((resource) => matches(textOf(resource, deployed), arn)),
    );
}

function textOf(value: unknown, deployed: Deployed): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::Join': join } = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] };
  if (join) return join[1].map((part) => textOf(part, deployed)).join(join[0]);
  const { account, name, region } = deployed;
  const known: Readonly<Record<string, string>> = {
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::AccountId': account,
  };
  return known[Ref ?? ''] ?? name;
}

function matches(pattern: string, arn: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(arn);
}
