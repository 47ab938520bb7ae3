/** Failures of a job as people read them: by their reasons, with the command that tries them again. */
import { compareKeys } from '@sagemaker-tfs/batch';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import { commandName } from '../../output/command-name.ts';
import type { InputFailure } from './completeness.ts';

/** The failures of each reason, the most frequent first, in the order of their keys: not in the order of their answers, which changes. */
export function byReason(
  failures: readonly InputFailure[],
): (readonly [reason: string, failures: readonly InputFailure[]])[] {
  const groups = new Map<string, InputFailure[]>();
  for (const failure of failures.toSorted((a, b) => compareKeys(a.key, b.key))) {
    const reason = reasonOf(failure);
    const group = groups.get(reason);
    if (group) group.push(failure);
    else groups.set(reason, [failure]);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}

/** The status and the first line. */
export function reasonOf({ status, message }: InputFailure): string {
  const line = message.split('\n')[0] ?? '';
  return status === undefined ? line : `${status}: ${line}`;
}

/** The same command for those alone that have no output. @param words of the command line, behind `sagemaker-tfs` */
export function retryCommand(words: readonly string[], manifest: string): string {
  const at = words.indexOf('--manifest');
  const others = words.filter((_, i) => at < 0 || (i !== at && i !== at + 1));
  const again = [
    ...others.filter((word) => !word.startsWith('--manifest=')),
    '--manifest',
    manifest,
  ];
  return `${commandName()} ${again.map(shellWord).join(' ')}`;
}
