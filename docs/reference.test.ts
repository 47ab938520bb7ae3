import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import releases from '../container/image/tensorflow-serving.json' with { type: 'json' };
import { awsRulesText } from './aws-rules.ts';
import { commandLineText } from './command-line.ts';
import { withTables } from './configuration-tables.ts';
import { errorsText } from './errors.ts';
import { withNext } from './navigation.ts';
import { referenceText } from './reference.ts';
import { tensorFlowServingText } from './tensorflow-serving.ts';

test('the committed reference is what the code says; npm run docs writes it', () => {
  const page = readFileSync(join(__dirname, 'reference.md'), 'utf8');
  expect(page).toBe(withNext('docs/reference.md', referenceText()));
});

test('the committed page of the command line is what --help says', () => {
  const page = readFileSync(join(__dirname, 'command-line.md'), 'utf8');
  expect(page).toBe(withNext('docs/command-line.md', commandLineText()));
});

test('the committed page of the constructs is what their sources say', () => {
  const page = readFileSync(join(__dirname, 'constructs.md'), 'utf8');
  // The compiler's API comes as ES modules only.
  const program = join(__dirname, 'constructs', 'text.ts');
  const text = execFileSync(process.execPath, ['--import', 'tsx', program], { encoding: 'utf8' });
  expect(page).toBe(withNext('docs/constructs.md', text));
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
  expect(page.match(/<!-- fields:/g)).toHaveLength(7);
  expect(withTables(page)).toBe(page);
});
