/** A function is read on one screen. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOMS } from './rooms.ts';
import { isTestSupport, sources } from './source-imports.ts';
import { ROOT } from './tracked-files.ts';

/** Lines of a function, from its first to its last. */
const MAX_LINES = 60;

/** Those that are longer, and why. */
const LONGER: Readonly<Record<string, string>> = {
  'libtensorflow/src/c-api.ts bindCApi': "a table: a line for each function of TensorFlow's",
  'playground/src/answer/boxes-view.tsx BoxesView': 'the elements of one view',
  'playground/src/app.tsx App': 'the elements of the page',
  'playground/src/file-input.tsx FileInput': 'the elements of one view',
  'playground/src/options.tsx Options': 'the elements of one view',
  'playground/src/send-view.tsx SendView': 'the elements of one view',
};

/** The last line of a function's head; `if (...) {` and the like end in the same way. */
const HEAD_ENDS = /(?:\)|\): [^;]*) \{$|=> \(?[{[]$/;
const STATEMENT = /^(?:if|for|while|switch|try|else|do|return|\}|\/\/|\*)/;
const NAME =
  /^(?:(?:export|default|async|static|override|get|set|const|function\*?) )*([\w$#]+)(?=[ (<:=])/;

interface Found {
  readonly name: string;
  readonly lines: number;
}

/** Functions by their indentation, which the formatter sees to: each ends where a bracket stands as far left as its head. */
function functionsOf(text: string): Found[] {
  const lines = text.split('\n');
  const indentOf = (line = '') => line.length - line.trimStart().length;
  return lines.flatMap((line, at) => {
    const indent = indentOf(line);
    const isAsDeep = (other: string) => other !== '' && indentOf(other) <= indent;
    if (!HEAD_ENDS.test(line) || STATEMENT.test(line.trim())) return [];
    const length = lines.slice(at + 1).findIndex(isAsDeep) + 1;
    // A head of several lines begins where its closing parenthesis stands.
    const above = line.trim().startsWith(')') ? lines.slice(0, at).findLastIndex(isAsDeep) : at;
    const [, name = 'a callback'] = NAME.exec((lines[above] ?? '').trim()) ?? [];
    return [{ name, lines: at - above + length + 1 }];
  });
}

const longest = sources
  .filter((file) => ROOMS.includes(file.split('/')[0] ?? '') && !isTestSupport(file))
  .flatMap((file) =>
    functionsOf(readFileSync(join(ROOT, file), 'utf8')).map(({ name, lines }) => ({
      place: `${file} ${name}`,
      lines,
    })),
  )
  .sort((a, b) => b.lines - a.lines);

test('functions are found', () => {
  expect(longest.length).toBeGreaterThan(5_000);
  expect(functionsOf('async function a(\n  b: number,\n): void {\n  b;\n\n  b;\n}\n')).toEqual([
    { name: 'a', lines: 7 },
  ]);
});

test('no function is longer than a screen without a reason', () => {
  const long = longest.filter(({ lines }) => lines > MAX_LINES).map(({ place }) => place);
  expect(long.sort()).toEqual(Object.keys(LONGER).sort());
});
