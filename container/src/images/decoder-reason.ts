/** What a decoder said last, on one line. */
export function decoderReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n')[0] ?? '';
}
