/** What an input held when it sent: with that it is shown again beside its answer. */

/** A file that can be sent. */
export interface Chosen {
  readonly name: string;
  readonly blob: Blob;
  readonly contentType: string;
}

/** Texts of a form's fields by their names. */
export type Texts = Readonly<Record<string, string>>;

/** The tab, and what was in it. */
export type Source =
  | { readonly tab: 'File'; readonly chosen: Chosen }
  | { readonly tab: 'Tensors'; readonly texts: Texts }
  | { readonly tab: 'CSV'; readonly text: string; readonly header: boolean }
  | { readonly tab: 'JSON'; readonly text: string };
