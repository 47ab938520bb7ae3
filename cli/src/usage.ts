/** Errors for wrong command lines, with what would be right. */
import type { Command, CommanderError } from 'commander';
import { usageError } from './errors.ts';

/** Makes the errors of a command and of its verbs CommandErrors that list what there is. */
export function listWhatIsAllowed(command: Command): void {
  // Whoever runs the command prints the error, once.
  command.configureOutput({ outputError: () => undefined });
  command.exitOverride((error) => {
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    throw isHelp ? error : usageError(adviceOn(error, command));
  });
  for (const verb of command.commands) listWhatIsAllowed(verb);
}

/** The command that a command line asks help for with `help`; undefined if it asks for none. @throws CommandError USAGE */
export function helpTarget(program: Command, argv: readonly string[]): Command | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  const at = words.indexOf('help');
  if (at < 0) return undefined;
  const before = verbAt(program, words.slice(0, at));
  // `help` is a verb only where verbs are: elsewhere it is a name, such as that of a file.
  if (!before || before.commands.length === 0) return undefined;
  return words.slice(at + 1).reduce((command, name) => {
    const verb = name === 'help' ? command : verbAt(command, [name]);
    return verb ?? refuse(command, name);
  }, before);
}

/** Refuses an unknown verb before `--help`, for which the help of the verb above would be shown. @throws CommandError USAGE */
export function requireKnownVerbs(program: Command, argv: readonly string[]): void {
  let command = program;
  for (const word of argv.filter((one) => !one.startsWith('-'))) {
    if (command.commands.length === 0) return;
    command = verbAt(command, [word]) ?? refuse(command, word);
  }
}

/** As if the verb had been asked for: with the one that it may be. @throws CommandError USAGE */
function refuse(command: Command, name: string): never {
  command.parse([name], { from: 'user' });
  throw usageError(unknownVerb(command, name));
}

function verbAt(program: Command, path: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const name of path) command = command?.commands.find((verb) => verb.name() === name);
  return command;
}

function adviceOn({ code, message }: CommanderError, command: Command): string {
  const [problem = '', guess] = message.replace(/^error: /, '').split('\n');
  const said = `${problem.replace(/\.$/, '')}${guess ? ` ${guess}` : ''}.`;
  switch (code) {
    case 'commander.unknownOption':
      return `${said} ${nameOf(command)} takes: ${optionsOf(command).join(', ')}.`;
    case 'commander.unknownCommand':
      return unknownVerb(command, /'(.*)'/.exec(problem)?.[1] ?? '', guess);
    case 'commander.missingArgument':
    case 'commander.excessArguments':
      return `${said} Usage: ${nameOf(command)} ${command.usage()}.`;
    default:
      return `${said} See ${nameOf(command)} --help.`;
  }
}

function unknownVerb(command: Command, name: string, guess = ''): string {
  const verbs = command.commands.map((verb) => verb.name());
  return `there is no verb '${name}'${guess && ` ${guess}`}. ${nameOf(command)} has: ${verbs.join(', ')}.`;
}

/** Long names of a command's options, those of the program included. */
function optionsOf(command: Command): string[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return [...new Set(options.flatMap(({ long }) => long ?? []))];
}

/** `sagemaker-tfs batch local`. */
function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
