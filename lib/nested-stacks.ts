/** Where constructs stand in a tree of nested stacks. */
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** What a stack waits for: a construct of its own, or its nested stack that holds it; undefined if it is elsewhere. */
export function waitedForIn(outer: Stack, construct: Construct): Construct | undefined {
  let stack: Stack | undefined = Stack.of(construct);
  if (stack === outer) return construct;
  while (stack && stack.nestedStackParent !== outer) stack = stack.nestedStackParent;
  return stack?.nestedStackResource;
}

/** The outermost stack: nested ones are deployed, and rolled back, with it. */
export function deployedWith(stack: Stack): Stack {
  return stack.nestedStackParent ? deployedWith(stack.nestedStackParent) : stack;
}
