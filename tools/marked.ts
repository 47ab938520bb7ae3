/** The generated parts of pages written by hand: what stands between `<!-- KIND: WHAT -->` and `<!-- end -->`. */

/** The page with each such part of `kind` replaced by `contentOf(WHAT)`. */
export function withMarked(
  page: string,
  kind: string,
  contentOf: (what: string) => string,
): string {
  const marked = new RegExp(`(<!-- ${kind}:(.*?)-->\\n)[\\s\\S]*?(<!-- end -->)`, 'g');
  return page.replaceAll(
    marked,
    (_, start: string, what: string, end: string) =>
      `${start}\n${contentOf(what.trim())}\n\n${end}`,
  );
}
