/** The command as it can be called again from here: commands in messages and views are there to be copied. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAME = 'sagemaker-tfs';

/** Folders that `npx` and `npm run` put in front of the PATH, which the user's shell does not have. */
const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

/** `sagemaker-tfs` if the user's shell finds it, else `npx sagemaker-tfs`, as in a project that installed it. */
export function commandName(environment: NodeJS.ProcessEnv = process.env): string {
  const { PATH = '', npm_command: calledByNpm } = environment;
  const isFound = PATH.split(delimiter).some(
    (folder) => folder !== '' && !OF_NPM.test(folder) && existsSync(join(folder, NAME)),
  );
  return isFound && calledByNpm === undefined ? NAME : `npx ${NAME}`;
}

/** A message of any room, whose commands can be copied: `sagemaker-tfs inspect DIR` as it is called here. */
export function callable(text: string, verbs: readonly string[], name = commandName()): string {
  const command = new RegExp(
    `(?<![\\w./@-]|npx |Usage: )${NAME}(?= (?:${verbs.join('|')})\\b)`,
    'g',
  );
  return text.replace(command, name);
}
