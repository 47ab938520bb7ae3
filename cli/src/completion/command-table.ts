/** What can be typed after each verb, read off the command itself. */
import type { Command, Option } from 'commander';

/** A verb, or the program itself, and what may follow it. */
export interface TableRow {
  /** Verbs from the first on, with a space between: `batch local`; empty for the program. */
  readonly path: string;
  readonly verbs: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly TableOption[];
  /** Values of its argument where there are only a few: shells of `completion`. */
  readonly choices: readonly string[];
}

/** An option. */
export interface TableOption {
  /** `--json`. */
  readonly long: string;
  /** `-q`. */
  readonly short: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
  /** Its values where there are only a few, else none. */
  readonly choices: readonly string[];
}

/** A row for the program and one for each of its verbs. */
export function tableOf(command: Command, above: readonly string[] = []): TableRow[] {
  const help = command.createHelp();
  const verbs = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const byName = new Map(options.map((option) => [option.long, option]));
  const row: TableRow = {
    path: above.join(' '),
    verbs: verbs.map((verb) => ({ name: verb.name(), description: oneLine(verb.description()) })),
    options: [...byName.values()].map(optionOf),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = verbs.flatMap((verb) => tableOf(verb, [...above, verb.name()]));
  const isHelp = (path: string) => path === [...above, 'help'].join(' ');
  return [row, ...below.map((one) => (isHelp(one.path) ? { ...one, verbs: row.verbs } : one))];
}

function optionOf(option: Option): TableOption {
  return {
    long: option.long ?? '',
    short: option.short,
    description: oneLine(option.description),
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
