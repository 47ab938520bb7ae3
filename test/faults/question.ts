/** What honest clients ask, and what they get. */

/** A request, and the answer that it must get. */
export interface Question {
  readonly path: string;
  readonly contentType: string;
  /** Further fields of its head. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The answer's text. */
  readonly golden: string;
}

/** An answer, or why there was none. */
export type Answer = { readonly status: number; readonly text: string } | { readonly lost: string };
