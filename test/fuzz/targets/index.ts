/** Every parser of bytes that come from outside. */
import type { Target } from '../target.ts';
import { CODECS } from './codecs.ts';
import { CONNECTIONS } from './connections.ts';
import { MESSAGES } from './messages.ts';
import { PACKAGING } from './packaging.ts';
import { PICTURES } from './pictures.ts';

/** The targets, cheap ones first. */
export const TARGETS: readonly Target[] = [
  ...CODECS,
  ...MESSAGES,
  ...PACKAGING,
  ...CONNECTIONS,
  ...PICTURES,
];
