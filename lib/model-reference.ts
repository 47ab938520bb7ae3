/** References to a model of another stack, which must follow it when it is replaced. */
import { Annotations, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { IModel } from './model.ts';

const WARNING = '@sagemaker-tfs/cdk:exportedModel';
const FLAG = '@aws-cdk/core:defaultCrossStackReferences';

/**
 * Warns of a model that reaches this stack by an export. Every change of a model replaces it, so that the export's value
 * changes, and CloudFormation changes no export in use: the model could never be updated. What the reference becomes is
 * known when the app is prepared, after all flags and overrides.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
 * @see https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.CrossStackReferences.html
 */
export function warnOfExport(scope: Construct, models: Iterable<IModel>): void {
  const stack = Stack.of(scope);
  const elsewhere = [...new Set(models)].filter((model) => model.stack !== stack);
  if (elsewhere.length === 0) return;
  const warned = new Set<IModel>();
  scope.node.addValidation({
    validate: () => {
      for (const model of elsewhere) {
        if (warned.has(model) || !isImported(stack, model)) continue;
        warned.add(model);
        Annotations.of(scope).addWarningV2(
          `${WARNING}.${model.node.addr.slice(0, 8)}`,
          advice(stack, model),
        );
      }
      return [];
    },
  });
}

function isImported(stack: Stack, model: IModel): boolean {
  return JSON.stringify(stack.resolve(model.modelName)).includes('Fn::ImportValue');
}

function advice(stack: Stack, model: IModel): string {
  return (
    `model: ${model.node.path} is in the stack ${model.stack.stackName}, and ${stack.stackName} imports its name. ` +
    'The next change of the model fails with "Export ... cannot be updated as it is in use". ' +
    `Set "${FLAG}" to "weak" in the context of cdk.json (where the stacks are deployed already: to "both", and deploy all, first), ` +
    `or make the model in ${stack.stackName}`
  );
}
