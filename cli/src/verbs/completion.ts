import { Argument, type Command } from 'commander';
import { SHELLS } from '../completion/scripts.ts';
import { usageError } from '../errors.ts';

/** `completion`: what a shell needs to complete verbs, options and their values. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(shellArgument())
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { tableOf } = await import('../completion/command-table.ts');
      const { SCRIPTS } = await import('../completion/scripts.ts');
      process.stdout.write(SCRIPTS[shell](tableOf(program)));
    });
}

/** With choices for the help, and words of our own for any other shell. */
function shellArgument(): Argument {
  return new Argument('<shell>', 'the shell that reads it')
    .choices(SHELLS)
    .argParser((name: string) => {
      if (SHELLS.some((shell) => shell === name)) return name;
      throw usageError(`there is no completion for ${name}. Name one of: ${SHELLS.join(', ')}.`);
    });
}
