/** What is pinned, and where. */

export type PinKind = 'npm' | 'pypi' | 'image' | 'action';

/** A stretch of a file that says which version is used. */
export interface Place {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly role:
    | { readonly is: 'version' }
    /** SHA-256 of a wheel, in hexadecimal. */
    | { readonly is: 'hash'; readonly hash: string }
    /** `@sha256:...` behind the tag of an image, or nothing yet. */
    | { readonly is: 'digest'; readonly tag: string; readonly digest?: string }
    /** Made from the version by `derived.ts`. */
    | { readonly is: 'derived' };
  /** Line of the file, from 1. */
  readonly line: number;
}

/** One name, pinned to one version in all its places. */
export interface Pin {
  readonly kind: PinKind;
  readonly name: string;
  readonly version: string;
  readonly places: readonly Place[];
}

/** A file of the repository: path from the root, and text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** How a place is shown. */
export function placeText({ file, line }: Place): string {
  return `${file}:${line}`;
}
