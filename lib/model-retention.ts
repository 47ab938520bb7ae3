/** Models of earlier deployments, kept for the jobs and the endpoints of other stacks that still name them. */
import { Policy } from 'aws-cdk-lib/aws-iam';
import { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Aws, CfnDeletionPolicy } from 'aws-cdk-lib/core';
import { formerKeysOf } from './encryption.ts';
import type { IModel } from './model.ts';
import type { ModelDataConfig } from './model-data/index.ts';

/**
 * Keeps models of earlier deployments, and their leave to read their archives: a job that was started
 * before a deployment continues, and so do the shards after it. An endpoint of another stack names the old model until that
 * stack is deployed as well. They cost nothing; docs/batch.md tells how to
 * delete them. A model that is not made in the app is not changed.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatereplacepolicy.html
 */
export function keepReplaced(model: IModel): void {
  const { defaultChild } = model.node;
  if (!(defaultChild instanceof CfnModel)) return;
  defaultChild.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  defaultChild.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE;
  // By which they are found: SageMaker's names of models do not tell the stack.
  defaultChild.tags.setTag('sagemaker-tfs:stack', Aws.STACK_NAME);
  const { grantReadAll, keepReplaced: keepFiles } = model.data as Partial<ModelDataConfig>;
  keepFiles?.();
  if (!grantReadAll || model.node.tryFindChild('ReadEarlierModels')) return;
  // A policy of a revision would go with it, and one that is kept would keep the role from being deleted.
  const policy = new Policy(defaultChild.node.scope ?? model.stack, 'ReadEarlierModels');
  model.role?.attachInlinePolicy(policy);
  grantReadAll(policy);
  for (const key of formerKeysOf(model)) key.grantDecrypt(policy);
}
