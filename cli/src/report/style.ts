/** The look of every report: light, dark, phone and print. Colors have names, which charts use as well. */
import { DARK, LIGHT, SERIES } from '../output/palette.ts';

/** Of lines, bars and marks, in this order; each stands out from its ground by 3 to 1 at least. */
export const SERIES_COLORS = SERIES.map((name) => `var(--${name})`);

const variables = (colors: Readonly<Record<string, string>>) =>
  Object.entries(colors)
    .map(([name, color]) => `--${name}: ${color};`)
    .join(' ');

/** `heat` is red, green and blue of a color that each cell thins. */
const LIGHT_COLORS = `
  ${variables(LIGHT)} --heat: 11, 92, 173;`;
const DARK_COLORS = `
  ${variables(DARK)} --heat: 90, 150, 215;`;

/** Width in pixels up to which the narrow charts are shown. */
const PHONE = 640;

export const STYLE = `
:root { color-scheme: light dark;${LIGHT_COLORS} }
@media (prefers-color-scheme: dark) { :root {${DARK_COLORS} } }
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
  :root { color-scheme: light;${LIGHT_COLORS} }
  body { max-width: none; padding: 0; font-size: 12px }
  .wide { display: block }
  .narrow { display: none }
  .scrolls { overflow: visible }
  h2 { break-after: avoid }
  figure, tr, pre { break-inside: avoid }
}
`;
