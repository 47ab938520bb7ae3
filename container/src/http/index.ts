/** The runtime's HTTP server, for whatever stands before the runtime: one set of rules for what is a request. */
export { ServingError } from '../errors.ts';
export type { Exchange } from './exchange.ts';
export { jsonReply, type Reply } from './reply.ts';
export { startServer } from './server.ts';
