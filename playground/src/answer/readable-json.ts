/** JSON as people read it: fractions of at most six digits, and room to break lines. */

const DIGITS = 6;
/** A text, a fraction or number with an exponent, or a comma. */
const PART = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|,(?=\S)/gi;

/** Texts and whole numbers stay as they are. */
export function readableJson(text: string): string {
  return text.replace(PART, (part) => {
    if (part === ',') return ', ';
    return part[0] !== '"' && /[.e]/i.test(part)
      ? String(Number(Number(part).toPrecision(DIGITS)))
      : part;
  });
}
