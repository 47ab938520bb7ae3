/** What the page's inputs give, and what they have in common. */
import type { PageRequest } from './request/ask.ts';

/** What an input contributes to a request; the rest are the options. */
export type Payload = Pick<PageRequest, 'body' | 'contentType' | 'title' | 'picture' | 'table'>;

/** Props of every input. */
export interface InputProps {
  readonly busy: boolean;
  readonly onSend: (payload: Payload) => void;
}
