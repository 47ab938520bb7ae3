/** The order of paths, which decides between the models of an archive that names none: the first is the default. */

/** Compares folder by folder, as a walk meets them: `a/x` before `a-b`, though `-` is less than `/`. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  const at = left.findIndex((name, i) => name !== right[i]);
  if (at < 0) return left.length - right.length;
  const [name = '', other] = [left[at], right[at]];
  return other === undefined || name > other ? 1 : -1;
}
