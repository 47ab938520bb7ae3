/** Markup in which text stays text: whatever `html` is handed is escaped, unless `html` or `trusted` made it. */

/** Markup that may stand in a page. */
export interface Html {
  readonly markup: string;
}

/** What `html` takes; undefined and false leave nothing. */
export type Part = Html | string | number | undefined | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters but tab and line feed, and those that turn text round. */
const UNSEEN = /(?![\t\n])\p{Cc}|\p{Bidi_Control}/gu;

/** Text as it may stand in an element or in a quoted attribute. */
export function escaped(text: string): string {
  return text.replace(UNSEEN, '·').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Markup of this program's own, such as a drawn chart. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Tag of a template: its text is markup, its values are escaped. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const [first = '', ...rest] = texts;
  return { markup: first + rest.map((text, at) => markupOf(parts[at]) + text).join('') };
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if ('markup' in part) return part.markup;
  return part.map(markupOf).join('');
}

/** How a column of a table is set. */
export interface Column {
  readonly head: string;
  /** To the right. Default: false. */
  readonly isNumber?: boolean;
}

/**
 * A table whose first column names the rows; it scrolls by itself where the page is narrow.
 * @param chosen number of the row that stands out. Default: none.
 */
export function tableHtml(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Part[])[],
  chosen = -1,
): Html {
  const align = (at: number) => (columns[at]?.isNumber ? 'number' : 'words');
  const heads = columns.map(
    ({ head }, at) => html`<th scope="col" class="${align(at)}">${head}</th>`,
  );
  const lines = rows.map(
    (
      [first, ...others],
      row,
    ) => html`<tr${row === chosen && html` class="chosen"`}><th scope="row" class="${align(0)}">${first}</th>${others.map(
      (cell, at) => html`<td class="${align(at + 1)}">${cell}</td>`,
    )}</tr>
`,
  );
  return html`<div class="scrolls" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines}</tbody></table></div>`;
}
