/** Somebody else's words as a sentence of a message: with a period, unless they end in one. */
export function sentence(text: string): string {
  const words = text.trimEnd();
  return /[.!?]$/.test(words) ? words : `${words}.`;
}
