import { relative } from 'node:path';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import { type Command, Option } from 'commander';
import { comesFromTarballs, installCommand, TEMPLATES, type Template } from '../init/templates.ts';
import { interruptSignal } from '../interrupt.ts';
import { printResult } from '../output/print.ts';
import { sayStep } from '../output/progress.ts';

interface InitOptions {
  readonly model?: string;
  readonly template: Template;
  readonly json?: true;
}

/** `init`: a repository of the user's own around a model. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description(
      'make a project of your own: model, handler, sample, tests, CI and what is deployed',
    )
    .argument('[directory]', 'a new or empty directory', '.')
    .option(
      '--model <source>',
      'your model: a directory, .tar.gz, .zip, .keras, .h5 or s3:// URI (default: a tiny example)',
    )
    .addOption(
      new Option('--template <kind>', 'what the project deploys; handler: only model and handler')
        .choices(TEMPLATES)
        .default('endpoint'),
    )
    .option('--json', 'print what was written as JSON')
    .action(init);
}

async function init(directory: string, options: InitOptions): Promise<void> {
  const { makeProject } = await import('../init/make-project.ts');
  const { template, model } = options;
  const signal = interruptSignal();
  const made = await makeProject({
    directory,
    template,
    signal,
    onStep: sayStep,
    ...(model !== undefined && { model }),
  });
  const path = relative('', made.directory);
  printResult(options.json, made, () =>
    [
      ...made.files,
      '',
      `Next: ${path && `cd ${shellWord(path)} && `}${installCommand(template, 'PATH')} && npm test`,
      ...(comesFromTarballs() ? ['PATH: the folder with the tarballs of the packages.'] : []),
      'README.md says more.',
    ].join('\n'),
  );
}
