import { Argument, type Command } from 'commander';
import { SHELLS } from '../completion/scripts.ts';

/** `completion`: what a shell needs to complete verbs, options and their values. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { tableOf } = await import('../completion/command-table.ts');
      const { SCRIPTS } = await import('../completion/scripts.ts');
      process.stdout.write(SCRIPTS[shell](tableOf(program)));
    });
}
