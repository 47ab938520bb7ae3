/** The imports of this repository's sources, read as text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Every source file but tests, fixtures and generated code, from the root on. */
export const sources: readonly string[] = trackedFiles('*.ts', '*.tsx', '*.mjs', 'bin/*.js').filter(
  (file) => !/\.test\.tsx?$|\/gen\/|\/fixtures\//.test(file),
);

/** Whether a file that is no test itself is for tests and benchmarks alone. `cli/src/testing.ts` is the users' test kit. */
export function isTestSupport(file: string): boolean {
  return /\/testing\/|\/test\/|test-support|stand-in|memory-check|\.bench\.ts$/.test(file);
}

/** One import: the file that has it, and its text. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** `export type { A } from` is no statement of this kind: it imports. */
const STATEMENT =
  /^(export )?(default )?(declare )?(abstract |async )?(const|let|function|class|interface|enum|type(?! *[{*])) /m;

/** Imports stand at the top of a file, `import('...')` anywhere; below the top may be code that is text. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(\*|\/\/).*$/gm, '');
  const top = text.slice(0, STATEMENT.exec(text)?.index);
  const found = [
    ...top.matchAll(/^(?:import|export)\b[^;']*'([^'\n]+)'/gm),
    ...text.matchAll(/\b(?:import|require)\('([^'\n]+)'\)/g),
  ];
  return found.map(([, to = '']) => ({ from: file, to }));
}

/** Every import, types included. */
export const imports: readonly Import[] = sources.flatMap(importsOf);
