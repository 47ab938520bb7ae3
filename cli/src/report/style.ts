/** The look of every report: light, dark, phone and print. Colors have names, which charts use as well. */

/** Of lines, bars and marks, in this order; each stands out from its ground by 3 to 1 at least. */
export const SERIES_COLORS = [1, 2, 3, 4, 5, 6].map((number) => `var(--c${number})`);

const LIGHT = `
  --back: #ffffff; --card: #f5f6f8; --text: #16191d; --quiet: #565f69; --line: #868e97; --grid: #dfe3e8;
  --good: #16692f; --bad: #b3261e; --accent: #0b5cad; --heat: 11, 92, 173;
  --c1: #0b5cad; --c2: #b4540a; --c3: #1b7340; --c4: #8a3fa8; --c5: #5b6470; --c6: #a8226b;`;
const DARK = `
  --back: #12151a; --card: #1b2027; --text: #e8ebee; --quiet: #a5aeb8; --line: #7c8691; --grid: #333b45;
  --good: #6fce8c; --bad: #ff9c8a; --accent: #7cb8f2; --heat: 90, 150, 215;
  --c1: #6cb0f2; --c2: #f0a35e; --c3: #6fce8c; --c4: #cf9bec; --c5: #aab3bd; --c6: #f08fc0;`;

/** Width in pixels up to which the narrow charts are shown. */
const PHONE = 640;

export const STYLE = `
:root { color-scheme: light dark;${LIGHT} }
@media (prefers-color-scheme: dark) { :root {${DARK} } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 860px; padding: 24px 16px 48px; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { margin: 0 0 4px; font-size: 26px; line-height: 1.25 }
h2 { margin: 40px 0 8px; font-size: 19px }
p { margin: 8px 0 }
.result { font-size: 19px }
.quiet, figcaption, caption { color: var(--quiet) }
.bad { color: var(--bad) }
a { color: var(--accent) }
code, pre { font: 14px/1.5 ui-monospace, monospace }
pre { margin: 8px 0; padding: 12px; background: var(--card); border: 1px solid var(--grid); border-radius: 6px;
  white-space: pre-wrap }
figure { margin: 16px 0 }
figure svg { display: block; width: 100%; height: auto }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 4px 0; padding: 0; list-style: none; font-size: 14px }
.legend svg { display: inline-block; width: 28px; height: 10px }
.narrow { display: none }
.scrolls { overflow-x: auto; margin: 12px 0; overflow-wrap: normal }
table { border-collapse: collapse; font-size: 15px }
caption { padding: 4px 0; text-align: left; font-size: 14px }
th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--grid); vertical-align: top; text-align: left }
th { font-weight: 500 }
thead th { border-color: var(--line); white-space: nowrap }
.number { text-align: right; font-variant-numeric: tabular-nums }
tr.chosen th, tr.chosen td { background: var(--card); font-weight: 700 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 8px 0; font-size: 15px }
dt { color: var(--quiet) }
dd { margin: 0 }
li { margin: 4px 0 }
summary { cursor: pointer }
@media (max-width: ${PHONE}px) {
  .wide { display: none }
  .narrow { display: block }
  dl { grid-template-columns: 1fr }
  dd { margin-bottom: 6px }
}
@media print {
  :root { color-scheme: light;${LIGHT} }
  body { max-width: none; padding: 0; font-size: 12px }
  .wide { display: block }
  .narrow { display: none }
  .scrolls { overflow: visible }
  h2 { break-after: avoid }
  figure, tr, pre { break-inside: avoid }
}
`;
