import type { Command } from 'commander';
import { wrapCommand } from './help-layout.ts';
import { program } from './main.ts';

/** Every verb, those below others included. */
function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

function helpOf(command: Command, columns: number): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text;
}

test.each([80, 60])('the help of every verb fits into %i columns', (columns) => {
  for (const command of all(program())) {
    const [lists = '', examples = ''] = helpOf(command, columns).split('\nExamples:\n');
    const isWide = (line: string, most: number) => line.length > most;
    expect(lists.split('\n').filter((line) => isWide(line, columns))).toEqual([]);
    // Commands to paste, laid out for 80 columns.
    expect(examples.split('\n').filter((line) => isWide(line, 80))).toEqual([]);
  }
});

test('a wide term has its description below, a narrow one beside it', () => {
  const [start, serve] = ['start', 'serve'].map((name) =>
    all(program()).find((command) => command.name() === name),
  ) as [Command, Command];
  expect(helpOf(start, 80)).toContain('  --model-name <name>\n      the SageMaker model\n');
  expect(helpOf(serve, 80)).toContain('  --handler <file>    TypeScript or JavaScript');
});

test('a wrapped command is the same command for a shell', () => {
  const command = "  $ tool verb picture.jpg --in s3://bucket/in/ --name 'a -b' -o out --flag";
  const wrapped = wrapCommand(command, 30);
  expect(wrapped.split('\n').length).toBeGreaterThan(2);
  expect(wrapped.replace(/ \\\n {4}/g, ' ')).toBe(command);
  expect(wrapCommand(command, 80)).toBe(command);
});
