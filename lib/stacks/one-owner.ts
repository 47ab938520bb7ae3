/** One project for a stack: the name of a stack alone does not tell projects from each other. */
import { CfnComputeEnvironment, CfnJobDefinition } from 'aws-cdk-lib/aws-batch';
import { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Stack } from 'aws-cdk-lib/core';
import { shortDigest } from '../hashing/short-digest.ts';

/** What a stack makes before what runs with it: models, and instances and jobs of workers, which need no model. */
const FIRST = [CfnModel, CfnComputeEnvironment, CfnJobDefinition];

/**
 * Names the project that a stack belongs to. Model `prod` of project `vision-tiles` and model `tiles-prod` of project
 * `vision` have one stack's name. Whichever is deployed second brings a parameter of its own under the name of the
 * first one's: CloudFormation cannot make it, and undoes the update before the model and what runs it have changed.
 * @param parts of the stack's name, as the configuration has them
 * @see https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html (ParameterAlreadyExists)
 */
export function claimStack(stack: Stack, parts: readonly string[]): void {
  const owner = shortDigest(JSON.stringify(parts));
  const parameter = new StringParameter(stack, `Owner${owner}`, {
    parameterName: `/sagemaker-tfs/stack-of-one-project/${stack.stackName}`,
    description: 'Project and model of this stack: another project cannot update it',
    stringValue: parts.filter((part) => part !== '').join(' '),
  });
  for (const one of stack.node.findAll()) {
    if (FIRST.some((kind) => one instanceof kind)) one.node.addDependency(parameter);
  }
}
