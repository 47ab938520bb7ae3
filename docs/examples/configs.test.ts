/** Every configuration that the docs show is one that can be deployed, as far as its own fields say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '../../lib/index.ts';

const FOLDER = join(__dirname, 'configs');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));

const VERSION = 'arn:aws:sagemaker:us-east-1:123456789012:model-package/digits/8';

test.each(files)('%s', async (file) => {
  process.env.DIGITS_VERSION = VERSION;
  const module = (await import(join(FOLDER, file))) as { default: unknown };
  const { models } = parseConfig(module.default, file);
  expect(Object.keys(models).length).toBeGreaterThan(0);
});
