/** What `doctor` shows to people: findings by what they are for, each with its fix. */
import type { MachineFinding } from '../doctor/finding.ts';
import { printable } from '../output/printable.ts';
import { type Style, wrapped } from '../output/style.ts';

const GROUPS = ['Serve', 'Package', 'Deploy'] as const;

/** Lines for each group, broken between words: nothing is cut. */
export function doctorLines(findings: readonly MachineFinding[], style: Style): string[] {
  const widest = Math.max(...findings.map(({ what }) => what.length));
  return GROUPS.flatMap((group, at) => {
    const own = findings.filter((finding) => finding.group === group);
    const title = `${style.strong(group)}${own.every(({ ok }) => ok) ? '  ready' : ''}`;
    return [...(at > 0 ? [''] : []), title, ...own.flatMap((one) => lines(one, widest, style))];
  });
}

function lines({ what, ok, needed, detail, fix }: MachineFinding, widest: number, style: Style) {
  const mark = ok ? style.good('✓') : needed ? style.bad('✗') : style.quiet('-');
  const room = Math.max(20, style.width - widest - 6);
  const [first = '', ...rest] = [
    ...wrapped(printable(detail), room),
    ...(ok || !fix ? [] : wrapped(printable(`→ ${fix}`), room)),
  ];
  const indent = ' '.repeat(widest + 6);
  return [`  ${mark} ${what.padEnd(widest)}  ${first}`, ...rest.map((line) => indent + line)];
}
