/** Names and texts from a model, for people: a name must not move the cursor, and must not begin a line of its own. */

const INVISIBLE = /\p{Cc}|\p{Bidi_Control}|\p{Zl}|\p{Zp}/gu;

/** The text on one line, control characters as JSON escapes them: two names stay two. */
export function visible(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether {@link visible} would change the text. */
export function hasInvisible(text: string): boolean {
  return visible(text) !== text;
}

/** {@link visible}, with the text's lines kept. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Plain data with each text and each key made visible. */
export function visibleIn<T>(data: T, show?: (text: string) => string): T;
export function visibleIn(data: unknown, show = visible): unknown {
  if (typeof data === 'string') return show(data);
  if (Array.isArray(data)) return data.map((one: unknown) => visibleIn(one, show));
  if (typeof data !== 'object' || data === null) return data;
  const entries = Object.entries(data).map(([key, value]) => [show(key), visibleIn(value, show)]);
  return Object.fromEntries(entries);
}
