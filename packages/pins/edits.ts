/** One stretch of a text, and what replaces it. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all stretches replaced. They must not overlap. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce(
      (whole, { start, end, text: part }) => whole.slice(0, start) + part + whole.slice(end),
      text,
    );
}
