import { test } from 'node:test';
import { addServingStacks, parseConfig } from '@sagemaker-tfs/cdk';
import { Template } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import { matchesGolden } from 'sagemaker-tfs/testing';
import config from '../serving.config.ts';

test('the stacks are as before', () => {
  // No stack is bundled: packaging the model is what npm run synth does.
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  addServingStacks(app, parseConfig(config, 'serving.config.ts'));
  // Stacks of environments lie in stages.
  const stacks = app.node.findAll().filter((child) => Stack.isStack(child));
  // A stack that is gone is a change too.
  matchesGolden(
    'goldens/stacks.json',
    stacks.map(({ stackName }) => stackName),
  );
  for (const stack of stacks) {
    const text = JSON.stringify(Template.fromStack(stack).toJSON());
    // Hashes change with every model; what is of interest here is everything else.
    const template: unknown = JSON.parse(text.replace(/[0-9a-f]{64}|\b[0-9a-f]{16}\b/g, 'HASH'));
    matchesGolden(`goldens/${stack.stackName}.json`, template);
  }
});
