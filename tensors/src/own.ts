/** The entry of that name. Undefined if there is none: `constructor` and `__proto__` are found on every object. */
export function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
