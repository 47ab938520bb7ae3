/** What `doctor` shows to people: findings by what they are for, each with its fix. */
import type { AccountFinding } from '../account/finding.ts';
import type { MachineFinding } from '../doctor/finding.ts';
import { behind, lengthOf, type Style } from '../output/style.ts';

const GROUPS = ['Serve', 'Package', 'Deploy'] as const;

/** Lines for each group, broken between words: nothing is cut. */
export function doctorLines(findings: readonly MachineFinding[], style: Style): string[] {
  const widest = widestOf(findings);
  return GROUPS.flatMap((group, at) => {
    const own = findings.filter((finding) => finding.group === group);
    const title = `${style.strong(group)}${own.every(({ ok }) => ok) ? '  ready' : ''}`;
    return [...(at > 0 ? [''] : []), title, ...own.flatMap((one) => lines(one, widest, style))];
  });
}

/** Findings about an account. */
export function findingLines(findings: readonly AccountFinding[], style: Style): string[] {
  const widest = widestOf(findings);
  return findings.flatMap((one) => lines({ ...one, needed: true }, widest, style));
}

const widestOf = (findings: readonly AccountFinding[]) =>
  Math.max(...findings.map(({ what }) => what.length));

/** Columns, besides those of the names, with which details stand beside them. With fewer they stand below. */
const BESIDE = 26;

function lines(
  { what, ok, needed, detail, fix }: Omit<MachineFinding, 'group'>,
  widest: number,
  style: Style,
) {
  const mark = ok ? style.good('✓') : needed ? style.bad('✗') : style.quiet('-');
  const isNarrow = style.width < widest + BESIDE;
  const indent = isNarrow ? 6 : widest + 6;
  const isBelow = isNarrow && lengthOf(`  - ${what}  ${detail}`) > style.width;
  const start = `  ${mark} ${isNarrow ? what : what.padEnd(widest)}`;
  const under = (text: string) => behind(' '.repeat(indent), text, style.width);
  return [
    ...(isBelow ? [start, ...under(detail)] : behind(`${start}  `, detail, style.width)),
    ...(ok || !fix ? [] : under(`→ ${fix}`)),
  ];
}
