/**
 * The CDK app: `serving.config.ts`, or the file that `-c config=FILE` names, as stacks. In JavaScript, because
 * a TypeScript loader would read every module of the CDK: it is there only while the configuration loads.
 */
require('./fresh-constructs.js');

const { resolve } = require('node:path');
const { addServingStacks, parseConfig, runApp } = require('@sagemaker-tfs/cdk');
const tsx = require('tsx/cjs/api');

// The validator that the CDK runs by default takes longer than all else together; here the tests run it, over
// every template, with cfn-lint and cdk-nag.
runApp(
  (app) => {
    const file = app.node.tryGetContext('config') ?? 'serving.config.ts';
    addServingStacks(app, parseConfig(loadConfig(file), file));
  },
  { builtinCloudFormationValidation: false },
);

function loadConfig(path) {
  const unregister = tsx.register();
  try {
    return require(resolve(path)).default;
  } finally {
    unregister();
  }
}
