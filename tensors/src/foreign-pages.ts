/** Who may talk to a server on somebody's own machine from a browser: its own page, and nobody else's. */
import { isIP } from 'node:net';

/** Headers of a request, by their names in lower case. */
type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Why a request is refused, with a message for whoever sent it. */
interface ForeignPage {
  readonly reason: 'host' | 'cross-site';
  readonly message: string;
}

/**
 * Finds what another site's page may send: a name of its own that resolves to this machine (DNS rebinding), or a
 * request from another origin. Programs send neither `Origin` nor `Sec-Fetch-Site` and pass.
 * @param boundTo the address that the server listens on: beyond loopback, addresses and that very name are allowed too
 * @returns undefined for what may pass
 */
export function findForeignPage(
  method: string,
  headers: RequestHeaders,
  boundTo: string,
): ForeignPage | undefined {
  const host = textOf(headers.host) ?? '';
  if (!isAllowedHost(host, boundTo)) {
    const shown = JSON.stringify(host.slice(0, LONGEST_SHOWN));
    const message = `this server answers for localhost, not for Host ${shown}; use http://127.0.0.1`;
    return { reason: 'host', message };
  }
  if (!isFromElsewhere(method, headers, host)) return undefined;
  return {
    reason: 'cross-site',
    message:
      'a page of another site may not call this server; open its own page, or call it from a program',
  };
}

/** Characters of a name in a message; no name in DNS is longer. */
const LONGEST_SHOWN = 253;

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(',');
}

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

function isFromElsewhere(method: string, headers: RequestHeaders, host: string): boolean {
  const site = textOf(headers['sec-fetch-site']);
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) {
    // A link on another site may open the page: the site learns nothing by it.
    return !(method === 'GET' && headers['sec-fetch-mode'] === 'navigate');
  }
  const origin = textOf(headers.origin);
  return origin !== undefined && origin !== `http://${host}`;
}
