/** Who may talk to a server on somebody's own machine from a browser: its own page, and nobody else's. */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { ServingError } from '../errors.ts';

/**
 * Refuses what another site's page may send: a name of its own that resolves to this machine (DNS rebinding), or a
 * request from another origin. Programs send neither `Origin` nor `Sec-Fetch-Site` and pass.
 * @param boundTo the address that the server listens on: beyond loopback, addresses and that very name are allowed too
 * @returns HOST_REFUSED or CROSS_SITE_REFUSED; undefined for what may pass
 */
export function foreignPage(
  method: string,
  headers: IncomingHttpHeaders,
  boundTo: string,
): ServingError | undefined {
  const host = headers.host ?? '';
  if (!isAllowedHost(host, boundTo)) {
    return new ServingError(
      'HOST_REFUSED',
      `this server answers for localhost, not for Host ${JSON.stringify(host.slice(0, LONGEST_SHOWN))}; use http://127.0.0.1`,
    );
  }
  if (isFromElsewhere(method, headers, host)) {
    return new ServingError(
      'CROSS_SITE_REFUSED',
      'a page of another site may not call this server; open its own page, or call it from a program',
    );
  }
  return undefined;
}

/** Characters of a name in a message; no name in DNS is longer. */
const LONGEST_SHOWN = 253;

function isAllowedHost(host: string, boundTo: string): boolean {
  // HTTP/1.0 has no Host; browsers always send it.
  if (host === '') return true;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (isLoopbackName(name)) return true;
  return !isLoopbackName(boundTo) && (isIP(name) !== 0 || name === boundTo.toLowerCase());
}

/** `localhost`, its subdomains (RFC 6761, section 6.3) and the loopback addresses. */
export function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

function isFromElsewhere(method: string, headers: IncomingHttpHeaders, host: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) {
    // A link on another site may open the page: the site learns nothing by it.
    return !(method === 'GET' && headers['sec-fetch-mode'] === 'navigate');
  }
  const { origin } = headers;
  return origin !== undefined && origin !== `http://${host}`;
}
