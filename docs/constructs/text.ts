/** `docs/constructs.md`: every construct with its props. Run as a program, it prints the page. */
import { join } from 'node:path';
import { table } from '../../tools/table.ts';
import { type DeclaredClass, type DeclaredType, type Member, readExports } from './declared.ts';

/** Shown in place of what its type says: it is computed from a catalogue that has a page. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  RuntimeEnvironment: 'reference.md#environment-variables',
  ServingConfig: 'configuration.md',
  ServingConfigInput: 'configuration.md',
};

/** Text of `docs/constructs.md`. */
export function constructsText(): string {
  const { classes, types } = readExports();
  const byName = new Map(types.map((type) => [type.name, type]));
  const owners = new Map(classes.flatMap(({ name, props }) => (props ? [[props, name]] : [])));
  const isStack = ({ name }: DeclaredClass) => name.endsWith('Stack');
  const isConstruct = ({ props }: DeclaredClass) => props !== undefined && byName.has(props);
  const shown = [
    { title: 'Constructs', of: classes.filter((one) => isConstruct(one) && !isStack(one)) },
    { title: 'Stacks', of: classes.filter(isStack) },
    { title: 'What they take and return', of: classes.filter((one) => !isConstruct(one)) },
  ];
  const reached = reachable(byName, [
    ...owners.keys(),
    ...classes.flatMap(({ properties }) => properties.map(({ type }) => type)),
  ]).filter(({ name }) => !owners.has(name) && !(name in ELSEWHERE));
  const link = linkerOf(owners, reached);

  return `# Constructs

Generated from the doc comments by \`npm run docs\`; a test keeps it true. [Configuration](configuration.md#constructs-in-your-own-app)
shows an app that uses them.

Each prop without a default is required. Types that are no link are the CDK's (\`IBucket\`, \`Duration\`) or TypeScript's.

${shown.map(({ title, of }) => [`## ${title}`, ...of.map(classText)].join('\n\n')).join('\n\n')}

## Types

${reached.map(typeText).join('\n\n')}
`;

  function classText({ name, meaning, props, methods, properties }: DeclaredClass): string {
    const type = props === undefined ? undefined : byName.get(props);
    const silent = type?.members.find((member) => member.meaning === '');
    if (silent) throw new Error(`${props}.${silent.name} has no doc comment.`);
    const told = properties.filter((one) => one.meaning !== '');
    return [
      `### ${name}`,
      prose(meaning),
      ...(type ? [membersTable('prop', type.members)] : []),
      ...(methods.some((one) => one.meaning) ? [methodsTable(methods)] : []),
      ...(told.length > 0 ? [propertiesTable(told)] : []),
    ].join('\n\n');
  }

  function methodsTable(methods: DeclaredClass['methods']): string {
    const rows = methods.map(({ name, isStatic, meaning }) => [
      `\`${isStatic ? 'static ' : ''}${name}\``,
      prose(meaning),
    ]);
    return table(['method', 'meaning'], rows);
  }

  function propertiesTable(properties: readonly Member[]): string {
    const rows = properties.map(({ name, type, meaning }) => [
      `\`${name}\``,
      link(type),
      prose(meaning),
    ]);
    return table(['property', 'type', 'meaning'], rows);
  }

  function membersTable(head: string, members: readonly Member[]): string {
    const rows = members.map((member) => [
      `\`${member.name}\``,
      link(member.type),
      member.isRequired ? '' : defaultOf(member),
      prose(member.meaning),
    ]);
    return table([head, 'type', 'default', 'meaning'], rows);
  }

  function typeText({ name, meaning, members, alternatives }: DeclaredType): string {
    const rows = alternatives.map((one) => [link(one.type), prose(one.meaning)]);
    const isTold = alternatives.some((one) => one.meaning !== '');
    const list = alternatives.map((one) => link(one.type)).join(', ');
    const body =
      members.length > 0
        ? membersTable('field', members)
        : isTold
          ? table(['one of', 'meaning'], rows)
          : `${alternatives.length > 1 ? 'One of' : 'Is'} ${list}.`;
    return [`### ${name}`, ...(meaning ? [prose(meaning)] : []), body].join('\n\n');
  }
}

/** Types named by these texts, and by the types that those name, in the order of their names. */
function reachable(
  byName: ReadonlyMap<string, DeclaredType>,
  texts: readonly string[],
): DeclaredType[] {
  const found = new Set<DeclaredType>();
  const queue = [...texts];
  for (let text = queue.pop(); text !== undefined; text = queue.pop()) {
    for (const name of namesIn(text)) {
      const type = byName.get(name);
      if (!type || found.has(type)) continue;
      found.add(type);
      queue.push(...[...type.members, ...type.alternatives].map((one) => one.type));
    }
  }
  return [...byName.values()].filter((type) => found.has(type));
}

function linkerOf(owners: ReadonlyMap<string, string>, types: readonly DeclaredType[]) {
  const places = new Map([
    ...Object.entries(ELSEWHERE),
    ...types.map(({ name }) => [name, `#${name.toLowerCase()}`] as const),
    ...[...owners].map(([props, name]) => [props, `#${name.toLowerCase()}`] as const),
  ]);
  /** A type as code; a link to the first type in it that has a place here. */
  return (type: string): string => {
    if (type === '') return '';
    const place = namesIn(type).flatMap((name) => places.get(name) ?? [])[0];
    return place === undefined ? `\`${type}\`` : `[\`${type}\`](${place})`;
  };
}

function namesIn(type: string): string[] {
  return type.match(/\b[A-Z]\w+/g) ?? [];
}

/** One word is code, as `64` and `Duration.minutes(5)`; more are words, with or without a hyphen in front. */
function defaultOf({ byDefault = '- none' }: Member): string {
  const words = byDefault.replace(/^-\s*/, '');
  return /^\S+$/.test(byDefault) ? `\`${byDefault}\`` : prose(words);
}

/** A comment in one line, its references as code. */
function prose(comment: string): string {
  return comment
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\{@link\s+([^}]+)\}/g, '`$1`')
    .trim();
}

if (process.argv[1] === join(import.meta.dirname, 'text.ts'))
  process.stdout.write(constructsText());
