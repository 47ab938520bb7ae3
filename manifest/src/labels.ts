/** The text of a labels file. */

/** Labels of a UTF-8 text, one a line: that of class `i` is at index `i`. */
export function parseLabels(text: string): readonly string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.trim());
}
