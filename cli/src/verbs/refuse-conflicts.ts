/** Settings of a job that do not go together, which constructs refuse by the same rules. */
import {
  CONFLICT_RULES,
  type ConflictRule,
  DEFAULT_SETTINGS,
  defaultAssembly,
  type TransformSettings,
} from '@sagemaker-tfs/batch/settings';
import { usageError } from '../errors.ts';

/** @throws CommandError USAGE for the first rule that refuses them */
export function refuseConflicts(
  settings: Partial<
    Pick<
      TransformSettings,
      'splitType' | 'batchStrategy' | 'contentType' | 'accept' | 'assembleWith'
    >
  >,
  rules: readonly ConflictRule[] = CONFLICT_RULES,
): void {
  const whole = {
    ...DEFAULT_SETTINGS,
    contentType: '',
    assembleWith: defaultAssembly(settings),
    ...settings,
  };
  for (const { setting, refuses, problem, fix = '' } of rules) {
    if (refuses?.(whole)) throw usageError(asOptions(`${setting}: ${problem}. ${fix}.`));
  }
}

/** Settings and their values as the command line has them: `splitType 'None'` is `--split-type None`. */
function asOptions(text: string): string {
  const option = (name: string) =>
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return text
    .replace(
      /\b([a-z]+[A-Z]\w+) '([^' ]*)'/g,
      (_, name: string, value: string) => `${option(name)} ${value}`,
    )
    .replace(/\b(?:[a-z]+[A-Z]\w+)\b/g, option);
}
