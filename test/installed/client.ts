/** `sagemaker-tfs/client`, `/handler` and `/testing` from ES modules, CommonJS and TypeScript; the test kit in three runners. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
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

/** The same kit in vitest, which loads ES modules and TypeScript as they are. */
const IN_VITEST = `
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeContext, matchesGolden, startModel, type ModelUnderTest } from 'sagemaker-tfs/testing';
import { inputHandler } from '../inference.ts';
const here = (name: string) => new URL(\`../\${name}\`, import.meta.url).pathname;

let model: ModelUnderTest;
beforeAll(async () => {
  model = await startModel({ model: here('model'), handler: here('inference.ts') });
}, 60_000);
afterAll(() => model?.stop());

test('the real model', async () => {
  const answer = await model.post(await readFile(here('${SAMPLE}')), { contentType: 'application/x-image' });
  expect(answer.json()).toMatchObject({ predictions: [{ digit: 7 }] });
  matchesGolden(here('vitest/seven.json'), answer.json(), { update: true });
  expect(() => matchesGolden(here('vitest/seven.json'), { predictions: [] })).toThrow('predictions');
  await expect(model.post('seven', { contentType: 'text/plain' })).rejects.toMatchObject({ status: 415 });
});
test('the handler alone', async () => {
  const context = fakeContext({ requestContentType: 'text/plain' });
  await expect(inputHandler(new Uint8Array(), context)).rejects.toMatchObject({ status: 415 });
});
`;

/** The last vitest that runs on Node 20. */
const VITEST = 'vitest@4.1.12';

async function checkVitest(project: Project): Promise<void> {
  project.write({ 'vitest/kit.test.ts': IN_VITEST });
  // In a folder of its own: what the packages need is counted.
  const folder = join(project.directory, 'vitest');
  const program = join(folder, 'node_modules/.bin/vitest');
  if (!existsSync(program)) {
    await project.run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, VITEST]);
  }
  const { stdout } = await project.run(program, ['run', '--root', folder, '--no-color']);
  assert.match(stdout, /Tests +2 passed/);
}

/** @throws Error where a module does not load or answers otherwise */
export async function checkClient(project: Project): Promise<void> {
  copyExample(project);
  const asModule = `import { readFileSync } from 'node:fs';\nimport { predict } from 'sagemaker-tfs/client';\n${ASK}`;
  project.write({
    'ask.mjs': asModule,
    'ask.mts': asModule.replace('process.argv[2]', 'process.argv[2] as string'),
    'ask.cjs': `const { readFileSync } = require('node:fs');\nconst { predict } = require('sagemaker-tfs/client');\nasync function main() {${ASK}}\nmain();\n`,
    'api.cjs': `const { inspectModel } = require('sagemaker-tfs');\ninspectModel('model').then(({ models }) => console.log(models.length));\n`,
    'entries.cjs': `for (const name of ['client', 'handler', 'testing', 'files']) console.log(Object.keys(require('sagemaker-tfs/' + name)).length > 1);\n`,
    'entries.mjs': `for (const name of ['client', 'handler', 'testing', 'files']) console.log(Object.keys(await import('sagemaker-tfs/' + name)).length > 1);\n`,
    'tests/handler.test.mts': TEST_KIT,
  });
  await serving(project, ['model', '--handler', 'inference.ts'], async (url) => {
    for (const program of [['ask.mjs'], ['ask.cjs'], ['--import', 'tsx', 'ask.mts']]) {
      assert.equal((await project.run('node', [...program, url])).stdout, '7\n');
    }
  });
  assert.equal((await project.run('node', ['api.cjs'])).stdout, '1\n');
  for (const file of ['entries.cjs', 'entries.mjs']) {
    assert.equal((await project.run('node', [file])).stdout, 'true\n'.repeat(4));
  }
  await project.run('node', ['--import', 'tsx', '--test', 'tests/handler.test.mts']);
  checkJest(project);
  await checkVitest(project);
}
