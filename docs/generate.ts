/** `npm run docs`: writes the generated parts of the docs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { writeFigures } from '../bench/lib/pages.ts';
import { ROOT } from '../bench/lib/programs.ts';
import { readResults } from '../bench/lib/report.ts';
import { BENCHES } from '../bench/questions.ts';
import { awsRulesText } from './aws-rules.ts';
import { commandLineText } from './command-line.ts';
import { withTables } from './configuration-tables.ts';
import { constructsText } from './constructs/text.ts';
import { errorsText } from './errors.ts';
import { PAGES, withNext, withPages } from './navigation.ts';
import { referenceText } from './reference.ts';
import { tensorFlowServingText } from './tensorflow-serving.ts';

async function generate(): Promise<void> {
  await change('configuration.md', withTables);
  await writeFile(join(import.meta.dirname, 'command-line.md'), commandLineText());
  await writeFile(join(import.meta.dirname, 'constructs.md'), constructsText());
  await writeFile(join(import.meta.dirname, 'reference.md'), referenceText());
  await writeFile(join(import.meta.dirname, 'errors.md'), errorsText());
  await writeFile(join(import.meta.dirname, 'aws-rules.md'), awsRulesText());
  await writeFile(join(import.meta.dirname, 'tensorflow-serving.md'), tensorFlowServingText());
  writeFigures(ROOT, readResults(BENCHES));
  await change('README.md', withPages);
  for (const { file } of PAGES.filter(({ file }) => file.startsWith('docs/'))) {
    await change(relative('docs', file), (text) => withNext(file, text));
  }
}

async function change(name: string, changed: (text: string) => string): Promise<void> {
  const file = join(import.meta.dirname, name);
  await writeFile(file, changed(await readFile(file, 'utf8')));
}

generate().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
