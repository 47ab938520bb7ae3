/** Media types and the Accept header (RFC 9110, sections 8.3.1 and 12.5.1). */

/** A media type taken apart. */
interface MediaType {
  /** `type/subtype` in lower case; either may be `*` in an Accept header. */
  readonly type: string;
  /** Parameters by lower-case name. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Takes a media type apart; whatever is no `name=value` parameter is left out. */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = splitOutsideQuotes(text, ';');
  const parameters = rest.flatMap((part): [string, string][] => {
    const at = part.indexOf('=');
    if (at < 0) return [];
    const value = part.slice(at + 1).trim();
    return [[part.slice(0, at).trim().toLowerCase(), unquote(value)]];
  });
  return { type: type.trim().toLowerCase(), parameters: Object.fromEntries(parameters) };
}

/** True if `range` (`image/*`, `*` + `/*` or a type) covers `type`. */
export function covers(range: string, type: string): boolean {
  if (range === '*/*' || range === '*' || range === type) return true;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1));
}

/**
 * The types that an Accept header allows, best first: by quality, then by place in the header, then by
 * place in `available`. The most specific range decides a type's quality; quality 0 excludes it.
 */
export function acceptableTypes(
  accept: string | undefined,
  available: readonly string[],
): readonly string[] {
  const text = accept?.trim();
  if (!text) return available;
  const ranges = rangesOf(text);
  return available
    .flatMap((type) => {
      const matches = ranges.filter((range) => covers(range.type, type));
      const [best] = matches.sort((a, b) => specificity(b.type) - specificity(a.type));
      return best && best.quality > 0 ? [{ type, ...quality(best) }] : [];
    })
    .sort((a, b) => b.quality - a.quality || a.place - b.place)
    .map(({ type }) => type);
}

/** The media type that an Accept header names first among those of the best quality; undefined for wildcards alone. */
export function namedType(accept: string): string | undefined {
  const [best] = rangesOf(accept)
    .filter(({ type, quality }) => quality > 0 && !type.includes('*'))
    .sort((a, b) => b.quality - a.quality || a.place - b.place);
  return best?.type;
}

/** Whether the text has a comma outside quotes, as an Accept header may have and a Content-Type not. */
export function isList(text: string): boolean {
  return splitOutsideQuotes(text, ',').length > 1;
}

function rangesOf(accept: string) {
  return splitOutsideQuotes(accept, ',')
    .map((part, place) => ({ ...parseRange(part), place }))
    .filter(({ type }) => type !== '');
}

function quality(range: { quality: number; place: number }): { quality: number; place: number } {
  return { quality: range.quality, place: range.place };
}

function parseRange(text: string): { type: string; quality: number } {
  const {
    type,
    parameters: { q },
  } = parseMediaType(text);
  const given = q === undefined ? 1 : Number(q);
  const isWeight = given >= 0 && given <= 1;
  return { type, quality: isWeight ? given : 1 };
}

function specificity(range: string): number {
  if (range === '*/*' || range === '*') return 0;
  return range.endsWith('/*') ? 1 : 2;
}

function unquote(value: string): string {
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && quoted) at += 1;
    else if (text[at] === '"') quoted = !quoted;
    else if (text[at] === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
