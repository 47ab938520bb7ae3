/** Targets of requests that are no paths. */
import type { IncomingMessage } from 'node:http';

/**
 * A target as proxies are sent it, `http://host/path`, becomes a path; its host goes before the Host header
 * (RFC 9112 3.2.2).
 */
export function takeAbsoluteTarget(request: IncomingMessage): void {
  const match = /^https?:\/\/([^/?#@]+)(.*)$/i.exec(request.url ?? '');
  if (!match) return;
  const [, host = '', rest = ''] = match;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}
