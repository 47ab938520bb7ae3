/** Whether a path leads below the folder that it is joined to, on any system: no `..`, not absolute, not empty. */
export function staysInside(path: string): boolean {
  if (path === '' || path.includes('\0') || /^[\\/]/.test(path)) return false;
  return !path.split(/[\\/]/).includes('..');
}
