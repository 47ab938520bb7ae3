/** References of other stacks to what an update renews: names of models, revisions and versions. */
import { Annotations, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { IModel } from './model.ts';

const FLAG = '@aws-cdk/core:defaultCrossStackReferences';

/** A value that updates of its stack change. */
interface RenewedValue {
  /** Id of the warning, without the package. */
  readonly warning: string;
  /** What the message begins with: a prop, or a property. */
  readonly prop: string;
  /** Path of what the value belongs to. */
  readonly path: string;
  /** The stack of the value. */
  readonly owner: Stack;
  /** As the owner resolves it. */
  readonly value: string;
  /** What is imported: `its name`. */
  readonly imported: string;
  /** What changes the value. */
  readonly change: string;
  /** What to do instead of the flag, in the importing stack. */
  readonly otherwise: (importer: string) => string;
}

/**
 * Warns of each stack that imports the value: CloudFormation changes no export in use, so the update that renews the value
 * would fail. What a reference becomes is known when the app is prepared, after all flags and overrides.
 * @param importers stacks that may refer to the value
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
 * @see https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.CrossStackReferences.html
 */
function warnOfImports(scope: Construct, value: RenewedValue, importers: () => Stack[]): void {
  const warned = new Set<Stack>();
  scope.node.addValidation({
    validate: () => {
      for (const stack of importers()) {
        if (stack === value.owner || warned.has(stack) || !isImported(stack, value)) continue;
        warned.add(stack);
        const id = `@sagemaker-tfs/cdk:${value.warning}`;
        Annotations.of(scope).addWarningV2(id, advice(stack, value));
      }
      return [];
    },
  });
}

/** Stacks of another account or region import nothing, and the CDK refuses to resolve the value there. */
function isImported(stack: Stack, { owner, value }: RenewedValue): boolean {
  if (stack.environment !== owner.environment) return false;
  return JSON.stringify(stack.resolve(value)).includes('Fn::ImportValue');
}

function advice({ stackName }: Stack, value: RenewedValue): string {
  return (
    `${value.prop}: ${value.path} is in the stack ${value.owner.stackName}, and ${stackName} imports ${value.imported}. ` +
    `The next change of ${value.change} fails with "Export ... cannot be updated as it is in use". ` +
    `Set "${FLAG}" to "weak" in the context of cdk.json (where the stacks are deployed already: to "both", and deploy all, first), ` +
    `or ${value.otherwise(stackName)}`
  );
}

/** Warns of a model that reaches this stack by an export. Every change of a model replaces it under another name. */
export function warnOfExport(scope: Construct, models: Iterable<IModel>): void {
  for (const model of new Set(models)) {
    const value: RenewedValue = {
      warning: `exportedModel.${model.node.addr.slice(0, 8)}`,
      prop: 'model',
      path: model.node.path,
      owner: model.stack,
      value: model.modelName,
      imported: 'its name',
      change: 'the model',
      otherwise: (importer) => `make the model in ${importer}`,
    };
    warnOfImports(scope, value, () => [Stack.of(scope)]);
  }
}

/** Warns of a launch template that reaches this stack by an export. Every change of a template makes another version. */
export function warnOfExportedVersion(
  scope: Construct,
  template: { readonly node: Construct['node']; readonly stack: Stack },
  versionNumber: string,
): void {
  const value: RenewedValue = {
    warning: 'exportedLaunchTemplate',
    prop: 'launchTemplate',
    path: template.node.path,
    owner: template.stack,
    value: versionNumber,
    imported: 'its version',
    change: 'the launch template, its tags included,',
    otherwise: (importer) => `make the launch template in ${importer}`,
  };
  warnOfImports(scope, value, () => [Stack.of(scope)]);
}

/**
 * Warns of all stacks of the app that import a property of `owner`, by a grant or as they like.
 * @param change what renews the property
 */
export function warnOfImporters(
  owner: Construct,
  property: string,
  value: string,
  change: string,
): void {
  const renewed: RenewedValue = {
    warning: 'exportedRevision',
    prop: property,
    path: owner.node.path,
    owner: Stack.of(owner),
    value,
    imported: 'it',
    change,
    otherwise: (importer) => `create in ${Stack.of(owner).stackName} what of ${importer} uses it`,
  };
  const stacks = () => owner.node.root.node.findAll().filter((node) => Stack.isStack(node));
  warnOfImports(owner, renewed, stacks);
}
