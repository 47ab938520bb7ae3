/** gzip level of archives where none is given, as `tar czf` has it. */
export const DEFAULT_LEVEL = 6;
