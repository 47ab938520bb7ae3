/** Finds the keys of an issuer of tokens. */
import { ConstructError } from '../../errors.ts';

/** Of the 10 s that API Gateway waits for an authorizer. */
const TIMEOUT_MS = 4000;
/** Such documents have a few kilobytes. */
const MAX_BYTES = 256 * 1024;

/**
 * Address of an issuer's keys.
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 * @throws ConstructError ISSUER_NOT_READ
 */
export async function findKeys(issuer: string): Promise<URL> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const refuse = (problem: string, cause?: unknown) =>
    new ConstructError(
      'ISSUER_NOT_READ',
      `${address}: ${problem}. Check the issuer's address.`,
      cause === undefined ? undefined : { cause },
    );
  const found = await read(address).catch((cause: unknown) => {
    throw refuse('it cannot be read', cause);
  });
  if (typeof found !== 'object' || found === null) throw refuse('it is no object');
  // Else the document is of somebody else, and so are the keys.
  if (!('issuer' in found) || found.issuer !== issuer) throw refuse(`it names another 'issuer'`);
  const keys = 'jwks_uri' in found ? found.jwks_uri : undefined;
  if (typeof keys !== 'string' || !URL.canParse(keys)) throw refuse(`it has no 'jwks_uri'`);
  const url = new URL(keys);
  if (url.protocol !== new URL(issuer).protocol) throw refuse(`its 'jwks_uri' is not secure`);
  return url;
}

async function read(address: string): Promise<unknown> {
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return JSON.parse(await textOf(response));
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
