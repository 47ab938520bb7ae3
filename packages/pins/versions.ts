/** Versions as all registries here write releases: numbers with dots. What is written otherwise (1.0rc1) is no release. */

const RELEASE = /^\d+(\.\d+)*$/;

const isRelease = (version: string): boolean => RELEASE.test(version);

const numbers = (version: string) => version.split('.').map(Number);

/** Below 0 if `a` is older than `b`. A missing number counts as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The newest release of the list; undefined if it has none. */
export function newestOf(versions: readonly string[]): string | undefined {
  return versions.filter(isRelease).sort(compareVersions).at(-1);
}

/** Whether `to` has the same major version, or below 1.0 the same minor: what `^` means to npm. */
export function sameMajor(from: string, to: string): boolean {
  const [left, right] = [numbers(from), numbers(to)];
  return left[0] === right[0] && (left[0] !== 0 || left[1] === right[1]);
}

/** Whether a version of Python satisfies `requires_python`, such as `>=3.9, !=3.9.7, <4`. Unknown clauses say no. */
export function satisfiesPython(python: string, specifier: string): boolean {
  return specifier
    .split(',')
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
    .every((clause) => satisfiesClause(python, clause));
}

function satisfiesClause(python: string, clause: string): boolean {
  const [, operator = '', version = '', any] =
    /^(>=|<=|==|!=|~=|>|<)\s*(\d+(?:\.\d+)*)(\.\*)?$/.exec(clause) ?? [];
  if (any) {
    const begins = `${python}.`.startsWith(`${version}.`);
    return operator === '==' ? begins : operator === '!=' && !begins;
  }
  const order = compareVersions(python, version);
  switch (operator) {
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '~=':
      return order >= 0 && `${python}.`.startsWith(`${numbers(version).slice(0, -1).join('.')}.`);
    default:
      return false;
  }
}
