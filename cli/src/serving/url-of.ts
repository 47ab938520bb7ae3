/**
 * Where programs on this machine reach a server.
 * @param host the address that it listens on
 */
export function urlOf(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
}

/** Loopback's own address where it listens on all. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
