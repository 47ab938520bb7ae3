/** The part of one of several processes that do the same work together. */
export interface Share {
  /** From 0. */
  readonly index: number;
  readonly of: number;
}

/** Reads `1/4`, the first of four; undefined for anything else. */
export function parseShare(text: string): Share | undefined {
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const share = { index: Number(number) - 1, of: Number(of) };
  return share.index >= 0 && share.index < share.of ? share : undefined;
}
