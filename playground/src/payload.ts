/** What the page's inputs give, and what they have in common. */
import type { PageRequest } from './request/ask.ts';
import type { Source, Texts } from './request/source.ts';

/** What an input contributes to a request; the rest are the options. */
export type Payload = Pick<
  PageRequest,
  'body' | 'contentType' | 'title' | 'picture' | 'table' | 'source'
>;

/** A request that got an error. */
export interface Refused {
  /** Title of its payload. */
  readonly title: string;
  /** The error's. */
  readonly message: string;
}

/** Props of every input. */
export interface InputProps {
  readonly busy: boolean;
  /** What is shown at first: what was sent last. */
  readonly source: Source | undefined;
  /** What was refused, if the answer that is shown is an error. */
  readonly refused: Refused | undefined;
  readonly onSend: (payload: Payload) => void;
  /** What was to be sent is wrong, which the input itself says: an earlier answer is none to it. */
  readonly onNotSent: () => void;
}

/** The message of what was refused, if that has the title. */
export function messageFor(refused: Refused | undefined, title: string): string | undefined {
  return refused?.title === title ? refused.message : undefined;
}

/** The texts of a form that was sent; none where another input was. */
export function textsOf(source: Source | undefined): Texts {
  return source?.tab === 'Tensors' ? source.texts : {};
}
