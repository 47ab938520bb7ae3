import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SETTINGS, fallbackTypes } from '@sagemaker-tfs/batch';

test('the fallback types that the props show are those that are used', () => {
  const [first, second] = fallbackTypes(DEFAULT_SETTINGS.instanceType);
  const shown = readFileSync(join(__dirname, 'props.ts'), 'utf8');
  expect(shown).toContain(
    `@default - for \`ml.p3\`, which AWS is taking away: \`${first}\`, then \`${second}\``,
  );
});
