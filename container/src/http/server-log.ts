import type { Logger } from 'pino';

/** Where a server tells what goes wrong. */
export type ServerLog = Pick<Logger, 'error' | 'warn'>;
