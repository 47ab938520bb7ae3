/** A report: one file that needs no network, runs no script, and can be mailed or printed. */

import type { RunFacts } from '../bench/run-facts.ts';
import { type Html, html, type Part, trusted } from './html.ts';
import { STYLE } from './style.ts';

/** A part of the page under a heading. */
export interface Section {
  readonly heading: string;
  readonly body: Part;
}

/** What every report holds, in this order. */
export interface Report {
  readonly title: string;
  /** One sentence: what came out. */
  readonly result: Part;
  readonly sections: readonly (Section | undefined)[];
  readonly run: RunFacts;
  /** Further facts of the run by their name, such as the request. */
  readonly facts?: Readonly<Record<string, Part>>;
  /** What to do with it: commands, each with its purpose. */
  readonly next: { readonly heading: string; readonly commands: readonly Command[] };
  /** Rules for what only this report shows. */
  readonly style?: string;
}

/** A line for a shell. */
export interface Command {
  readonly purpose: string;
  readonly line: string;
}

/** Nothing is loaded and no script runs, whatever text stands in the page. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** The whole document. */
export function reportPage(report: Report): string {
  const { title, result, sections, style = '' } = report;
  const parts = [...sections, nextSection(report), runSection(report)];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${title}</title>
<style>${trusted(STYLE + style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="result">${result}</p>
${parts.map((part) => part && sectionHtml(part))}
</main>
</body>
</html>
`.markup;
}

function sectionHtml({ heading, body }: Section): Html {
  return html`<section>
<h2>${heading}</h2>
${body}
</section>
`;
}

function nextSection({ next }: Report): Section {
  const body = next.commands.map(
    ({ purpose, line }) => html`<p>${purpose}</p>
<pre><code>${line}</code></pre>
`,
  );
  return { heading: next.heading, body };
}

function runSection({ run, facts = {} }: Report): Section {
  const { date, machine, model } = run;
  const rows: readonly (readonly [string, Part])[] = [
    [
      'Date',
      html`<time datetime="${date}">${date.replace('T', ' ').replace(/\..*/, ' UTC')}</time>`,
    ],
    [
      'Machine',
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}`,
    ],
    ['Versions', `sagemaker-tfs ${machine.command}, Node ${machine.node}`],
    ['Model', modelText(model)],
    ...Object.entries(facts),
  ];
  const items = rows.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`);
  return { heading: 'This run', body: html`<dl>${items}</dl>` };
}

function modelText({ version, fingerprint, server }: RunFacts['model']): Part {
  // Every answer names the version.
  if (!version && !fingerprint && !server) {
    return 'not known: this run got no new answer, and answers name the model';
  }
  const words = [
    ...(version ? [`version ${version}`] : []),
    ...(server ? [`behind it ${server}`] : []),
  ];
  return html`${words.join(', ')}${words.length > 0 && ', '}fingerprint ${
    fingerprint
      ? html`<code>${fingerprint}</code>`
      : 'unknown: the model was served without an archive'
  }`;
}
