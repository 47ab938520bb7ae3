/** What `batch local` shows to people at its end: what was done, failures by their reasons, and how to retry them. */
import type { JobResult } from '../batch/local/agent.ts';
import type { InputFailure } from '../batch/local/completeness.ts';
import { byReason, retryCommand } from '../batch/local/failures.ts';
import { rateText } from '../batch/rate.ts';
import { printable } from '../output/printable.ts';
import { behind, flowed, type Style } from '../output/style.ts';

/** Reasons, and keys of each, that are shown. */
const SHOWN = { reasons: 10, keys: 3 };

/** @param words of the command line, behind `sagemaker-tfs` */
export function jobLines(result: JobResult, words: readonly string[], style: Style): string[] {
  const { inputs, missing, done, skipped, failed, seconds } = result;
  const facts = [
    `${inputs - missing} of ${inputs} inputs have an output`,
    ...(skipped > 0 ? [`${skipped} done before`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${seconds.toFixed(1)} s`,
    ...(done > 0 ? [rateText(done / seconds)] : []),
  ];
  const mark = missing > 0 ? style.bad('✗') : style.good('✓');
  const [first = '', ...rest] = flowed(facts, style.width - 2);
  return [
    `${mark} ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...repeated(result, style),
    ...failureLines(result.failures, style),
    ...(result.redriveManifest ? ['', retryLine(words, result.redriveManifest)] : []),
  ];
}

function repeated({ duplicates }: JobResult, style: Style): string[] {
  if (duplicates.length === 0) return [];
  const text = `the manifest repeats ${duplicates.length} keys, each done once: ${duplicates[0]}`;
  return behind('  ', text, style.width);
}

/** The most frequent reasons first, each with some of its inputs. */
function failureLines(failures: readonly InputFailure[], style: Style): string[] {
  const sorted = byReason(failures);
  const lines = sorted.slice(0, SHOWN.reasons).flatMap(([reason, all]) => {
    const keys = all.slice(0, SHOWN.keys).map(({ key }) => key);
    const more = all.length > keys.length ? ` and ${all.length - keys.length} more` : '';
    return [
      ...behind(`  ${style.bad(String(all.length))} × `, reason, style.width),
      ...behind('      ', keys.join(', ') + more, style.width).map(style.quiet),
    ];
  });
  const rest = sorted.length - SHOWN.reasons;
  return [
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(rest > 0 ? [`  … and ${rest} more reasons`] : []),
  ];
}

/** To copy, so never cut. */
function retryLine(words: readonly string[], manifest: string): string {
  return printable(`  Retry  ${retryCommand(words, manifest)}`);
}
