/** A wall of digits with the model's answers: some of the batch, and every wrong one framed. Filtered without a script. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Html, html } from 'sagemaker-tfs/development/report';
import { type Answered, isRight } from './answers.ts';

/** Digits on the wall before the wrong ones come to it. */
const SHOWN = 100;
const DIGITS = Array.from({ length: 10 }, (_, digit) => digit);

/** Rules of the wall; a filter hides what it does not name. */
export const WALL_STYLE = `
.wall fieldset { border: 1px solid var(--grid); border-radius: 6px; margin: 12px 0; padding: 6px 12px }
.wall legend { color: var(--quiet) }
.wall label { display: inline-flex; align-items: center; gap: 4px; min-height: 28px; margin-right: 14px; white-space: nowrap }
.wall ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(60px, 1fr)); gap: 6px; margin: 0; padding: 0;
  list-style: none }
.wall li { margin: 0; padding: 4px; border: 2px solid transparent; border-radius: 4px; text-align: center; font-size: 13px;
  line-height: 1.3; background: var(--card) }
.wall li.wrong { border-color: var(--bad); color: var(--bad); font-weight: 600 }
.wall img { display: block; width: 40px; height: 40px; margin: 0 auto 2px; image-rendering: pixelated; background: #000 }
.wall:has(#show-wrong:checked) li:not(.wrong) { display: none }
${DIGITS.map((digit) => `.wall:has(#show-${digit}:checked) li:not(.is-${digit}) { display: none }`).join('\n')}
@media print { .wall fieldset { display: none } .wall li { break-inside: avoid } }
`;

/** @param images folder of the pictures */
export async function wall(images: string, answers: readonly Answered[]): Promise<Html> {
  const every = Math.max(1, Math.floor(answers.length / SHOWN));
  const shown = answers.filter(
    (answer, at) => !isRight(answer) || (at % every === 0 && at < every * SHOWN),
  );
  const tiles = await Promise.all(shown.map((answer) => tile(images, answer)));
  const wrong = answers.filter((answer) => !isRight(answer)).length;
  return html`<div class="wall">
<p>Every ${every === 1 ? '' : `${every}th `}digit of the batch, and all ${wrong} wrong answers, framed.</p>
<fieldset><legend>Show</legend>
${choice('all', 'all', true)}
${choice('wrong', 'wrong answers')}
${DIGITS.map((digit) => choice(String(digit), String(digit)))}
</fieldset>
<ul>
${tiles}</ul>
</div>`;
}

function choice(id: string, name: string, isChosen = false): Html {
  return html`<label><input type="radio" name="show" id="show-${id}"${isChosen && html` checked`}>${name}</label>
`;
}

async function tile(images: string, answer: Answered): Promise<Html> {
  const { key, label, digit, probability } = answer;
  const data = (await readFile(join(images, key))).toString('base64');
  const percent = `${(100 * probability).toFixed(0)}%`;
  const right = isRight(answer);
  const words = right ? `${digit} · ${percent}` : `${digit}, is ${label} · ${percent}`;
  return html`<li class="is-${label}${right ? '' : ' wrong'}"><img alt="a written ${label}" src="data:image/png;base64,${data}">${words}</li>
`;
}
