export { type Flags, type ParsedFlags, parseFlags } from './flags.ts';
export { startServer } from './server.ts';
