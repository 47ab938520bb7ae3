/** Checks the tokens of requests, for API Gateway. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ConstructError } from '../../errors.ts';
import { findKeys } from './find-keys.ts';

/** What of API Gateway's event is used. */
interface TokenEvent {
  /** The whole header `Authorization`. */
  readonly authorizationToken: string;
  /** ARN of the method that is called. */
  readonly methodArn: string;
}

/** The one error of an authorizer that API Gateway answers with 401; it takes any other as its own fault. */
const UNAUTHORIZED = 'Unauthorized';
/** Signatures with a private key. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** What is wrong with the issuer and not with the token. */
const OF_THE_ISSUER = [errors.JWKSTimeout, errors.JWKSInvalid];

let known: { readonly issuer: string; readonly keys: JWTVerifyGetKey } | undefined;

/**
 * Lambda's entry.
 * @returns whether the method may be called. Allowed tokens without the scope that is asked for get a denial, so 403
 * @throws Error `Unauthorized` for tokens that are not taken, so 401
 * @throws ConstructError ISSUER_NOT_READ if the issuer's keys cannot be had, so 500
 */
export async function handler({ authorizationToken, methodArn }: TokenEvent) {
  const claims = await verify(tokenOf(authorizationToken));
  if (!names(claims.aud ?? claims.client_id, listOf('JWT_AUDIENCE'))) throw new Error(UNAUTHORIZED);
  const scopes = listOf('JWT_SCOPES');
  const allowed = scopes.length === 0 || names(scopesOf(claims), scopes);
  return {
    principalId: claims.sub ?? 'unknown',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Action: 'execute-api:Invoke',
          Effect: allowed ? 'Allow' : 'Deny',
          Resource: methodArn,
        },
      ],
    },
  };
}

function tokenOf(header: string): string {
  const token = /^Bearer +([\w.~+/=-]+)$/i.exec(header)?.[1];
  if (token === undefined) throw new Error(UNAUTHORIZED);
  return token;
}

async function verify(token: string): Promise<JWTPayload> {
  const issuer = setting('JWT_ISSUER');
  const keys = await keysOf(issuer);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
    });
    return payload;
  } catch (cause) {
    const itsFault = cause instanceof errors.JOSEError && cause.code !== 'ERR_JOSE_GENERIC';
    if (itsFault && !OF_THE_ISSUER.some((type) => cause instanceof type)) {
      console.log(`refused: ${cause.code}`);
      throw new Error(UNAUTHORIZED, { cause });
    }
    const message = `the keys of ${issuer} cannot be read. Check that it answers.`;
    throw new ConstructError('ISSUER_NOT_READ', message, { cause });
  }
}

/** The issuer's keys. They are kept while the function lives; `jose` asks for new ones by their id. */
async function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
  if (known?.issuer === issuer) return known.keys;
  const keys = createRemoteJWKSet(await findKeys(issuer));
  known = { issuer, keys };
  return keys;
}

/** Scopes of a token: one text with spaces between them, or a list. */
function scopesOf({ scope, scp }: JWTPayload): unknown {
  const given = scope ?? scp;
  return typeof given === 'string' ? given.split(' ') : given;
}

/** Whether a claim, one text or a list, names one of `wanted`. */
function names(claim: unknown, wanted: readonly unknown[]): boolean {
  const given: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return given.some((one) => wanted.includes(one));
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new ConstructError(
      'FUNCTION_NOT_CONFIGURED',
      `${name} is not set. Deploy the stack again.`,
    );
  return value;
}

function listOf(name: string): readonly unknown[] {
  const list: unknown = JSON.parse(setting(name));
  if (Array.isArray(list)) return list;
  throw new ConstructError(
    'FUNCTION_NOT_CONFIGURED',
    `${name} is no list. Deploy the stack again.`,
  );
}
