/**
 * Props keep the rules of the CDK's own constructs, as jsii and awslint check them: read-only data, every default told.
 * @see https://github.com/aws/aws-cdk/blob/main/docs/DESIGN_GUIDELINES.md
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { DeclaredType, Exports } from '../../docs/constructs/declared.ts';
import { ROOT } from './tracked-files.ts';

/** Props that are functions, with the reason. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  'ServingStackProps.imageOf': 'a configuration has a stack that makes it; apps give one image',
};

const program = join(ROOT, 'docs', 'constructs', 'declared.ts');
const text = execFileSync(process.execPath, ['--import', 'tsx', program], { encoding: 'utf8' });
const { classes, types } = JSON.parse(text) as Exports;
const byName = new Map(types.map((type) => [type.name, type]));

/** Interfaces of what apps write: props, options, and what their fields are. */
function written(): DeclaredType[] {
  const found = new Set(types.filter(({ name }) => /(Props|Options)$/.test(name)));
  for (const { members } of found) {
    for (const name of members.flatMap(({ type }) => type.match(/\b[A-Z]\w+/g) ?? [])) {
      const type = byName.get(name);
      // What begins with I is made by a construct, not written.
      if (type && !/^I[A-Z]/.test(name)) found.add(type);
    }
  }
  return [...found];
}

const fields = written().flatMap(({ name, members }) =>
  members.map((member) => ({ ...member, path: `${name}.${member.name}` })),
);
const pathsOf = (wrong: (field: (typeof fields)[number]) => boolean) =>
  fields.filter(wrong).map(({ path }) => path);

test('there are props', () => {
  expect(fields.length).toBeGreaterThan(150);
});

test('every optional prop tells its default', () => {
  expect(pathsOf(({ isRequired, byDefault }) => !isRequired && byDefault === undefined)).toEqual(
    [],
  );
});

test('no prop can be changed', () => {
  expect(pathsOf(({ isReadonly }) => !isReadonly)).toEqual([]);
});

test('props are data', () => {
  expect(pathsOf(({ type }) => type.includes('=>'))).toEqual(Object.keys(FUNCTIONS));
});

test('what a construct shows cannot be changed, and methods are named by what they do', () => {
  const shown = classes.flatMap(({ name, properties, methods }) => [
    ...properties.filter(({ isReadonly }) => !isReadonly).map((one) => `${name}.${one.name}`),
    // Other languages of the CDK have getters of that name for properties.
    ...methods.filter((one) => /^get[A-Z]/.test(one.name)).map((one) => `${name}.${one.name}`),
  ]);
  expect(shown).toEqual([]);
});
