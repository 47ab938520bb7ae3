/** IAM's quota of inline policies, which a role meets only while it is deployed. */
import { CfnPolicy, CfnRole } from 'aws-cdk-lib/aws-iam';
import { Stack, Token } from 'aws-cdk-lib/core';
import { InvalidProp } from './errors.ts';

/**
 * Characters of all inline policies of a role together, without whitespace. It cannot be raised. The CDK moves what
 * exceeds it to managed policies, but of a role's default policy alone.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
 */
const MOST_CHARACTERS = 10_240;

const CHECKED = new WeakSet<Stack>();

/** Refuses, at synthesis, roles of a stack whose inline policies IAM would refuse. */
export function checkInlinePolicies(stack: Stack): void {
  if (CHECKED.has(stack)) return;
  CHECKED.add(stack);
  stack.node.addValidation({ validate: () => problemsOf(stack) });
}

function problemsOf(stack: Stack): string[] {
  return [...charactersByRole(stack)]
    .filter(([, characters]) => characters > MOST_CHARACTERS)
    .map(([role, characters]) => {
      const problem = `its inline policies have about ${characters.toLocaleString('en')} characters, and IAM takes ${MOST_CHARACTERS.toLocaleString('en')}.`;
      const fix =
        'Give models roles of their own, or spread models and components over more stacks and endpoints.';
      return new InvalidProp(stack.node.path, `role ${role}`, `${problem} ${fix}`).message;
    });
}

/** Characters of inline policies, by the logical id or the name of their role. */
function charactersByRole(stack: Stack): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (role: unknown, document: unknown) => {
    const name = nameOf(role);
    sums.set(name, (sums.get(name) ?? 0) + lengthOf(stack, document));
  };
  for (const node of stack.node.findAll()) {
    if (Stack.of(node) !== stack) continue;
    if (node instanceof CfnPolicy) {
      const document: unknown = stack.resolve(node.policyDocument);
      for (const role of (stack.resolve(node.roles) ?? []) as unknown[]) add(role, document);
    } else if (node instanceof CfnRole) {
      const policies = (stack.resolve(node.policies) ?? []) as { policyDocument: unknown }[];
      const role = { Ref: stack.getLogicalId(node) };
      for (const { policyDocument } of policies) add(role, policyDocument);
    }
  }
  return sums;
}

const nameOf = (role: unknown): string =>
  typeof role === 'object' && role && 'Ref' in role ? String(role.Ref) : JSON.stringify(role);

/** Lengths of what only the deployment knows: those of usual values. */
const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::AccountId': '0'.repeat(12),
  'AWS::Region': 'us-east-1',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** A policy without statements resolves to nothing. Where it must have some, the CDK says so. */
function lengthOf(stack: Stack, document: unknown): number {
  if (document === undefined) return 0;
  const text = JSON.stringify(render(document, (id) => physicalName(stack, id)));
  return text.replace(/\s/g, '').length;
}

/** As CloudFormation names what has no name: by stack and id, with a suffix. */
const physicalName = ({ stackName }: Stack, id: string): string => {
  const stack = Token.isUnresolved(stackName) ? 'x'.repeat(40) : stackName;
  return `${stack}-${id}`.slice(0, 50) + 'x'.repeat(13);
};

/** A value with texts in place of CloudFormation's functions. */
function render(value: unknown, nameOfId: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => render(one, nameOfId));
  if (typeof value !== 'object' || value === null) return value;
  const text = (part: unknown) => String(render(part, nameOfId));
  if ('Ref' in value) return PSEUDO[String(value.Ref)] ?? nameOfId(String(value.Ref));
  if ('Fn::GetAtt' in value) {
    const [id = '', attribute = ''] = [value['Fn::GetAtt']].flat().map(String);
    const isArn = attribute.endsWith('Arn');
    return `${isArn ? `arn:aws:service:us-east-1:${'0'.repeat(12)}:` : ''}${nameOfId(id)}`;
  }
  if ('Fn::Join' in value) {
    const [separator, parts] = value['Fn::Join'] as [string, unknown[]];
    return parts.map(text).join(separator);
  }
  if ('Fn::Sub' in value) {
    const [sub] = [value['Fn::Sub']].flat();
    return String(sub).replace(/\$\{([^}]+)\}/g, (_, id: string) => PSEUDO[id] ?? nameOfId(id));
  }
  const [name = ''] = Object.keys(value);
  if (name.startsWith('Fn::')) return 'x'.repeat(40);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, render(part, nameOfId)]),
  );
}
