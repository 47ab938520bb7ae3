/** Which digits the model takes for which: a row for what an image shows, a column for the answer. */
import { type Html, html, tableHtml } from 'sagemaker-tfs/development/report';
import type { Answered } from './answers.ts';

const DIGITS = Array.from({ length: 10 }, (_, digit) => digit);
/** Text stays readable on the darkest cell. */
const DARKEST = 0.35;

export const CONFUSION_STYLE = `
.confusion td, .confusion th { padding: 2px 10px; text-align: right }
.confusion thead th { font-weight: 700 }
.confusion .cell { display: block; margin: 0 -8px; padding: 0 8px; border-radius: 3px }
.confusion .none { color: var(--quiet) }
`;

/** @returns counts by label, then by answer */
export function confusionOf(answers: readonly Answered[]): number[][] {
  const counts = DIGITS.map(() => DIGITS.map(() => 0));
  for (const { label, digit } of answers) {
    const row = counts[label];
    if (row) row[digit] = (row[digit] ?? 0) + 1;
  }
  return counts;
}

export function confusion(answers: readonly Answered[]): Html {
  const counts = confusionOf(answers);
  const most = Math.max(1, ...counts.flatMap((row, label) => row.filter((_, at) => at !== label)));
  const rows = counts.map((row, label) => [
    String(label),
    ...row.map((count, digit) => cell(count, digit === label ? 0 : count / most, digit === label)),
    String(row.reduce((sum, count, digit) => (digit === label ? sum : sum + count), 0)),
  ]);
  const heads = [...DIGITS.map(String), 'wrong'];
  return html`<div class="confusion">${tableHtml(
    'Rows: the digit that an image shows. Columns: the answer. The darker, the more often it is wrong.',
    [{ head: 'digit' }, ...heads.map((head) => ({ head, isNumber: true }))],
    rows,
  )}</div>`;
}

function cell(count: number, heat: number, isRight: boolean): Html {
  if (isRight) return html`<strong>${count}</strong>`;
  if (count === 0) return html`<span class="none">0</span>`;
  return html`<span class="cell" style="background: rgba(var(--heat), ${(DARKEST * heat).toFixed(2)})">${count}</span>`;
}
