/**
 * The commands of the guides: those that the docs show exist, and run in a project of the reader's own or say where.
 * docs/run.test.ts runs them; this one also reads those that need AWS.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { filesOf, program, TEMPLATES } from 'sagemaker-tfs/development/command';
import { SHOWING, type ShownLine, shownLines } from './shown-commands.ts';
import { PAGES as TRANSCRIPTS } from './transcripts.ts';

const ROOT = join(__dirname, '..');
/** Pages for people who work in a clone of the repository, as their first paragraph says. */
const IN_A_CLONE = /\b(this repository|a clone)\b/i;

/** The commands of a page, one by one. */
function commandsOf(page: string): ShownLine[] {
  // transcripts.test.ts runs what these show with its output, after a `cd`.
  const isRun = TRANSCRIPTS.some((name) => page === `docs/${name}`);
  return shownLines(page, isRun ? ['sh', 'bash'] : ['sh', 'bash', 'console']).flatMap(
    ({ line, around }) => line.split(/ && | \| /).map((part) => ({ line: part.trim(), around })),
  );
}

/** Words as a shell has them; redirections are left out. */
function wordsOf(line: string): string[] {
  const bare = line.replace(/\s(?:>>?|<)\s*\S+/g, '');
  const words = bare.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2')).map(filledIn);
}

/** Names of an account stand in capitals, and some have a form that is checked. */
function filledIn(word: string): string {
  if (word === 'REGION') return 'us-east-1';
  if (word === 'ARN') return 'arn:aws:iam::123456789012:role/name';
  return word.replace('s3://BUCKET/', 's3://bucket/');
}

/** The command line with verbs that do nothing. */
function idleProgram(): Command {
  const idle = (command: Command): Command => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    for (const inner of command.commands) idle(inner);
    if (command.commands.length === 0) command.action(() => undefined);
    return command;
  };
  return idle(program());
}

/** Scripts that a project of `sagemaker-tfs init` has. */
const PROJECT_SCRIPTS = new Set(
  TEMPLATES.flatMap((template) => {
    const made = filesOf({ template, name: 'm', sample: 's.npz', contentType: 'a/b' });
    const { scripts } = JSON.parse(made['package.json'] ?? '') as { scripts: object };
    return Object.keys(scripts);
  }),
);
const { scripts: ROOT_SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

test('there are commands to look at', () => {
  const lines = SHOWING.flatMap(commandsOf).map(({ line }) => line);
  expect(lines.filter((line) => line.startsWith('npx sagemaker-tfs ')).length).toBeGreaterThan(50);
});

describe.each(SHOWING)('%s', (page) => {
  test('its sagemaker-tfs commands parse', () => {
    for (const { line } of commandsOf(page)) {
      const words = wordsOf(line.replace(/^npx /, ''));
      if (words[0] !== 'sagemaker-tfs' || words[1] === 'help') continue;
      let problem: unknown;
      try {
        idleProgram().parse(words.slice(1), { from: 'user' });
      } catch (error) {
        problem = error;
      }
      expect({ line, problem }).toEqual({ line, problem: undefined });
    }
  });

  test('its scripts exist, and those of this repository say so', () => {
    for (const { line, around } of commandsOf(page)) {
      const script = /^npm (?:run (?:--silent )?([\w:-]+)|(test))/.exec(line);
      const name = script?.[1] ?? script?.[2];
      if (name === undefined || PROJECT_SCRIPTS.has(name)) continue;
      expect({ line, exists: name in ROOT_SCRIPTS }).toEqual({ line, exists: true });
      expect({ page, line, says: IN_A_CLONE.test(around) }).toEqual({ page, line, says: true });
    }
  });

  test('its paths of this repository exist, and the page says so', () => {
    for (const { line, around } of commandsOf(page)) {
      const paths = line.matchAll(/(?:^|[\s=@(])((?:bench|docs|examples|test)\/[^\s)"']*)/g);
      for (const [, path = ''] of paths) {
        expect({ line, exists: existsSync(join(ROOT, path)) }).toEqual({ line, exists: true });
        expect({ page, line, says: IN_A_CLONE.test(around) }).toEqual({ page, line, says: true });
      }
    }
  });
});
