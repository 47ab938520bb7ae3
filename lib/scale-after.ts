/** The order of autoscaling and of what proves an endpoint, wherever in a tree of nested stacks that is. */
import { Annotations, Aspects, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { deployedWith, waitedForIn } from './nested-stacks.ts';
import type { RealtimeEndpoint } from './realtime-endpoint.ts';

/**
 * Lets autoscaling begin after what may fail, where CloudFormation can wait for that. A stack cannot wait for what waits for
 * it: elsewhere it is a warning if the endpoint is scaled.
 * @param proof waits for the endpoint
 * @param what it is, as in `an API`
 */
export function scaleAfterProof(endpoint: RealtimeEndpoint, proof: Construct, what: string): void {
  const inStack = waitedForIn(endpoint.stack, proof);
  if (inStack) endpoint.scaleAfter(inStack);
  else if (deployedWith(Stack.of(proof)) === deployedWith(endpoint.stack)) {
    // A variant may be scaled later.
    Aspects.of(proof).add({
      visit: (node) => node === proof && endpoint.isScaled && warn(endpoint, proof, what),
    });
  }
}

function warn(endpoint: RealtimeEndpoint, proof: Construct, what: string): void {
  Annotations.of(proof).addWarningV2(
    '@sagemaker-tfs/cdk:scalingCannotWait',
    `endpoint: autoscaling of ${endpoint.node.path} cannot wait for ${what} in ${Stack.of(proof).node.path}: ${endpoint.stack.node.path} is deployed before. If it fails in a deployment that also begins to scale a variant, the rollback can stop in UPDATE_ROLLBACK_FAILED: deregister the variant with 'aws application-autoscaling deregister-scalable-target', then 'aws cloudformation continue-update-rollback', as docs/updating-and-rolling-back.md shows. To avoid that, put it into the stack of the endpoint, or into one nested in it; or deploy with 'registered: false' in the variant's scaling first, then without`,
  );
}
