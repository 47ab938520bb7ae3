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
  for (const { refuses, problem, fix } of rules) {
    if (refuses?.(whole)) throw usageError(`${problem}. ${fix}.`);
  }
}
