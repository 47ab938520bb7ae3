import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireNode } from './node-version.ts';

const { engines } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
const oldest = String(engines.node).replace('>=', '');

test.each(['12.22.12', '18.20.4', '20.18.3'])('Node %s is refused in one sentence', (version) => {
  const message = `sagemaker-tfs/testing needs Node ${oldest} or later, this is ${version}. Install a newer one from https://nodejs.org.`;
  expect(() => requireNode('sagemaker-tfs/testing', version)).toThrow(
    expect.objectContaining({ code: 'NODE_TOO_OLD', message, stack: message }),
  );
});

test.each([`${oldest}.0`, '22.0.0', '100.1.0'])('Node %s will do', (version) => {
  expect(() => requireNode('sagemaker-tfs/testing', version)).not.toThrow();
});

test('this Node will do', () => {
  expect(() => requireNode('this test')).not.toThrow();
});

test.each(['cli/src/index.ts', 'cli/src/testing.ts', 'lib/index.ts'])('%s asks for it', (entry) => {
  expect(readFileSync(join(__dirname, '../..', entry), 'utf8')).toMatch(/^requireNode\('/m);
});
