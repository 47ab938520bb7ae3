/** `sagemaker-tfs/client`, `/handler` and `/testing` from ES modules and CommonJS. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { copyExample, SAMPLE } from './command.ts';
import { ownProgram, type Project } from './project.ts';
import { serving } from './served.ts';

const ASK = `
const answer = await predict({ url: process.argv[2] }, readFileSync('${SAMPLE}'), { contentType: 'application/x-image' });
console.log(answer.json().predictions[0].digit);
`;

const TEST_KIT = `
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closeTo, fakeContext, matchesGolden, startModel } from 'sagemaker-tfs/testing';
import { inputHandler } from '../inference.ts';

let model;
before(async () => {
  model = await startModel({ model: 'model', handler: 'inference.ts' });
});
after(() => model.stop());

test('the real model', async () => {
  const answer = await model.post(readFileSync('${SAMPLE}'), { contentType: 'application/x-image' });
  assert.equal(answer.json().predictions[0].digit, 7);
  matchesGolden('goldens/seven.json', answer.json(), { update: true });
  matchesGolden('goldens/seven.json', answer.json());
  assert.match(closeTo({ predictions: [1] }, { predictions: [2] }), /predictions\\[0\\] is 1, not 2/);
  await assert.rejects(model.post('seven', { contentType: 'text/plain' }), { status: 415 });
});
test('the handler alone', async () => {
  await assert.rejects(inputHandler(new Uint8Array(), fakeContext({ requestContentType: 'text/plain' })), { status: 415 });
});
`;

/** The same kit in jest, which loads CommonJS; this repository's jest, since installing one would take longer than the test. */
const IN_JEST = `
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { startModel } = require('sagemaker-tfs/testing');
const here = (name) => join(__dirname, '..', name);

test('the real model', async () => {
  const model = await startModel({ model: here('model'), handler: here('inference.ts') });
  const answer = await model.post(readFileSync(here('${SAMPLE}')), { contentType: 'application/x-image' });
  expect(answer.json().predictions[0].digit).toBe(7);
  await model.stop();
});
`;

function checkJest(project: Project): void {
  project.write({
    'jest/kit.test.js': IN_JEST,
    'jest/package.json': '{ "jest": { "transform": {} } }',
  });
  const folder = join(project.directory, 'jest');
  const args = ['--rootDir', folder, '--config', join(folder, 'package.json')];
  const { status, stderr } = ownProgram('jest', [...args, '--testTimeout', '60000']);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /1 passed/);
}

/** @throws Error where a module does not load or answers otherwise */
export async function checkClient(project: Project): Promise<void> {
  copyExample(project);
  project.write({
    'ask.mjs': `import { readFileSync } from 'node:fs';\nimport { predict } from 'sagemaker-tfs/client';\n${ASK}`,
    'ask.cjs': `const { readFileSync } = require('node:fs');\nconst { predict } = require('sagemaker-tfs/client');\nasync function main() {${ASK}}\nmain();\n`,
    'api.cjs': `const { inspectModel } = require('sagemaker-tfs');\ninspectModel('model').then(({ models }) => console.log(models.length));\n`,
    'entries.cjs': `for (const name of ['client', 'handler', 'testing', 'files']) console.log(Object.keys(require('sagemaker-tfs/' + name)).length > 1);\n`,
    'entries.mjs': `for (const name of ['client', 'handler', 'testing', 'files']) console.log(Object.keys(await import('sagemaker-tfs/' + name)).length > 1);\n`,
    'tests/handler.test.mts': TEST_KIT,
  });
  await serving(project, ['model', '--handler', 'inference.ts'], async (url) => {
    for (const file of ['ask.mjs', 'ask.cjs']) {
      assert.equal((await project.run('node', [file, url])).stdout, '7\n');
    }
  });
  assert.equal((await project.run('node', ['api.cjs'])).stdout, '1\n');
  for (const file of ['entries.cjs', 'entries.mjs']) {
    assert.equal((await project.run('node', [file])).stdout, 'true\n'.repeat(4));
  }
  await project.run('node', ['--import', 'tsx', '--test', 'tests/handler.test.mts']);
  checkJest(project);
}
