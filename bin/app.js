/**
 * The CDK app: `serving.config.ts`, or the file that `-c config=FILE` names, as stacks. In JavaScript, because
 * a TypeScript loader would read every module of the CDK: it is there only while the configuration loads.
 */
require('./fresh-constructs.js');

const { resolve } = require('node:path');
const { addServingStacks, parseConfig } = require('@sagemaker-tfs/cdk');
const { App } = require('aws-cdk-lib/core');
const tsx = require('tsx/cjs/api');

// The validator that the CDK runs by default takes longer than all else together; here the tests run it, over
// every template, with cfn-lint and cdk-nag.
const app = new App({ builtinCloudFormationValidation: false });
const file = app.node.tryGetContext('config') ?? 'serving.config.ts';
try {
  addServingStacks(app, parseConfig(loadConfig(file), file));
} catch (error) {
  // What the configuration says is to be mended there; a stack of calls would only hide it.
  if (error?.name !== 'ConfigurationError') throw error;
  console.error(error.message);
  process.exit(1);
}

function loadConfig(path) {
  const unregister = tsx.register();
  try {
    return require(resolve(path)).default;
  } finally {
    unregister();
  }
}
