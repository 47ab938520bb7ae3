import { Aws } from 'aws-cdk-lib/core';

/**
 * The resource of a task, such as `lambda:invoke`, in the partition of the stack: Step Functions ends an execution
 * whose tasks are of another one ('The resource belongs to a different partition from the running execution').
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/integrate-services.html
 */
export function statesArn(action: string): string {
  return `arn:${Aws.PARTITION}:states:::${action}`;
}
