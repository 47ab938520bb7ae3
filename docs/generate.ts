/** `npm run docs`: writes the generated parts of the docs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFigures } from '../bench/lib/pages.ts';
import { ROOT } from '../bench/lib/programs.ts';
import { readResults } from '../bench/lib/report.ts';
import { BENCHES } from '../bench/questions.ts';
import { awsRulesText } from './aws-rules.ts';
import { withTables } from './configuration-tables.ts';
import { errorsText } from './errors.ts';
import { referenceText } from './reference.ts';
import { tensorFlowServingText } from './tensorflow-serving.ts';

async function generate(): Promise<void> {
  const configuration = join(import.meta.dirname, 'configuration.md');
  await writeFile(configuration, withTables(await readFile(configuration, 'utf8')));
  await writeFile(join(import.meta.dirname, 'reference.md'), referenceText());
  await writeFile(join(import.meta.dirname, 'errors.md'), errorsText());
  await writeFile(join(import.meta.dirname, 'aws-rules.md'), awsRulesText());
  await writeFile(join(import.meta.dirname, 'tensorflow-serving.md'), tensorFlowServingText());
  writeFigures(ROOT, readResults(BENCHES));
}

generate().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
