import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import releases from '../container/image/tensorflow-serving.json' with { type: 'json' };
import { awsRulesText } from './aws-rules.ts';
import { withTables } from './configuration-tables.ts';
import { errorsText } from './errors.ts';
import { withNext } from './navigation.ts';
import { referenceText } from './reference.ts';
import { tensorFlowServingText } from './tensorflow-serving.ts';

test('the committed reference is what the code says; npm run docs writes it', () => {
  const page = readFileSync(join(__dirname, 'reference.md'), 'utf8');
  expect(page).toBe(withNext('docs/reference.md', referenceText()));
});

test('the committed page of errors is what the catalogues say', () => {
  const page = readFileSync(join(__dirname, 'errors.md'), 'utf8');
  expect(page).toBe(withNext('docs/errors.md', errorsText()));
});

test("the committed page of AWS's rules is what the code says", () => {
  const page = readFileSync(join(__dirname, 'aws-rules.md'), 'utf8');
  expect(page).toBe(withNext('docs/aws-rules.md', awsRulesText()));
});

test('the committed table of releases is what the data says', () => {
  const page = readFileSync(join(__dirname, 'tensorflow-serving.md'), 'utf8');
  expect(page).toBe(withNext('docs/tensorflow-serving.md', tensorFlowServingText()));
});

test('the Dockerfile builds on the default release', () => {
  const dockerfile = readFileSync(join(__dirname, '..', 'container', 'Dockerfile'), 'utf8');
  const [, version] =
    /^ARG TFS_BASE=docker\.io\/tensorflow\/serving:([\d.]+)/m.exec(dockerfile) ?? [];
  expect(version).toBe(releases.default);
});

test('the tables of the configuration are what its schema says', () => {
  const page = readFileSync(join(__dirname, 'configuration.md'), 'utf8');
  expect(page.match(/<!-- fields:/g)).toHaveLength(6);
  expect(withTables(page)).toBe(page);
});
