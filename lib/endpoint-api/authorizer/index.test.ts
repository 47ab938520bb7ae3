/** Tokens of a real issuer, signed and checked. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';

const METHOD_ARN = 'arn:aws:execute-api:us-east-1:123456789012:abc/v1/POST/invocations';

let server: Server;
let issuer: string;
/** Documents of the issuer by path; a number is a status. */
let documents: Record<string, unknown>;
let privateKey: GenerateKeyPairResult['privateKey'];
const asked: string[] = [];
const before = { ...process.env };

beforeAll(async () => {
  server = createServer((request, response) => {
    const found = documents[request.url ?? ''] ?? 404;
    asked.push(request.url ?? '');
    if (typeof found === 'number') response.writeHead(found).end();
    else response.end(typeof found === 'string' ? found : JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
  process.env = before;
});

beforeEach(async () => {
  jest.resetModules();
  jest.spyOn(console, 'log').mockReturnValue();
  asked.length = 0;
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pair = await generateKeyPair('RS256');
  privateKey = pair.privateKey;
  documents = {
    '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
    '/keys': { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }] },
  };
  process.env.JWT_ISSUER = issuer;
  process.env.JWT_AUDIENCE = '["digits","others"]';
  process.env.JWT_SCOPES = '[]';
});

/** The answer for a header, by a function that has just been started. */
async function authorize(authorizationToken: string): Promise<string | undefined> {
  const { handler } = await import('./index.ts');
  const answer = await handler({ authorizationToken, methodArn: METHOD_ARN });
  const [statement, ...others] = answer.policyDocument.Statement;
  expect(others).toEqual([]);
  expect(statement).toMatchObject({ Action: 'execute-api:Invoke', Resource: METHOD_ARN });
  return statement?.Effect;
}

type Claims = { readonly [Name in keyof JWTPayload]: JWTPayload[Name] | undefined };

/** A token of an hour, with these claims in place of its own. */
function token(claims: Claims = {}, key = privateKey, kid = 'one'): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: issuer, aud: 'digits', sub: 'me', iat: now, exp: now + 3600, ...claims };
  return new SignJWT(all as JWTPayload).setProtectedHeader({ alg: 'RS256', kid }).sign(key);
}

const past = () => Math.floor(Date.now() / 1000) - 60;

test('a token of the issuer, for the audience', async () => {
  expect(await authorize(`Bearer ${await token()}`)).toBe('Allow');
  expect(await authorize(`bearer ${await token({ aud: ['x', 'others'] })}`)).toBe('Allow');
  expect(asked).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('a token without audience, by the client that it is for, as those of Cognito', async () => {
  const cognito = await token({ aud: undefined, client_id: 'digits' });
  expect(await authorize(`Bearer ${cognito}`)).toBe('Allow');
});

test.each<[string, () => Claims]>([
  ['of another issuer', () => ({ iss: 'https://login.example.com' })],
  ['that has expired', () => ({ exp: past() })],
  ['that never expires', () => ({ exp: undefined })],
  ['that is not valid yet', () => ({ nbf: past() + 3600 })],
  ['for somebody else', () => ({ aud: 'x' })],
  ['for somebody else, of a client of ours', () => ({ aud: 'x', client_id: 'digits' })],
  ['for nobody', () => ({ aud: undefined })],
])('a token %s is refused with 401', async (_, claims) => {
  await expect(authorize(`Bearer ${await token(claims())}`)).rejects.toThrow(/^Unauthorized$/);
});

test('a token signed by somebody else, with a foreign key, by nobody or by a shared secret', async () => {
  const other = await generateKeyPair('RS256');
  const forged = [
    await token({}, other.privateKey),
    await token({}, other.privateKey, 'two'),
    new UnsecuredJWT({ iss: issuer, aud: 'digits', exp: past() + 3600 }).encode(),
    // The public key as if it were a secret that both sides know.
    await new SignJWT({ iss: issuer, aud: 'digits', exp: past() + 3600 })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode(JSON.stringify(documents['/keys']))),
  ];
  for (const one of forged) {
    await expect(authorize(`Bearer ${one}`)).rejects.toThrow(/^Unauthorized$/);
  }
});

test.each(['', 'Bearer ', 'Basic YTpi', 'Bearer a b', 'Bearer nonsense'])(
  'the header %j is refused with 401',
  async (header) => {
    await expect(authorize(header)).rejects.toThrow(/^Unauthorized$/);
  },
);

test('a token without the scope is denied, so 403', async () => {
  process.env.JWT_SCOPES = '["predict"]';
  expect(await authorize(`Bearer ${await token()}`)).toBe('Deny');
  expect(await authorize(`Bearer ${await token({ scope: 'unpredict predicts' })}`)).toBe('Deny');
  expect(await authorize(`Bearer ${await token({ scope: 'read predict' })}`)).toBe('Allow');
  expect(await authorize(`Bearer ${await token({ scp: ['predict'] })}`)).toBe('Allow');
});

test.each<[string, () => Record<string, unknown>]>([
  ['no document', () => ({})],
  ['an error', () => ({ '/.well-known/openid-configuration': 503 })],
  ['no JSON', () => ({ '/.well-known/openid-configuration': '<html>' })],
  ['a document without end', () => ({ '/.well-known/openid-configuration': ' '.repeat(1e6) })],
  ['no object', () => ({ '/.well-known/openid-configuration': 'null' })],
  [
    'a document of another issuer',
    () => ({ '/.well-known/openid-configuration': { issuer: 'x', jwks_uri: `${issuer}/keys` } }),
  ],
  ['no address of keys', () => ({ '/.well-known/openid-configuration': { issuer } })],
  ['keys elsewhere', () => ({ ...documents, '/keys': 404 })],
  ['keys that are none', () => ({ ...documents, '/keys': { keys: 1 } })],
])('an issuer with %s is reported as such, not as a bad token', async (_, broken) => {
  const good = await token();
  documents = broken();
  await expect(authorize(`Bearer ${good}`)).rejects.toMatchObject({ code: 'ISSUER_NOT_READ' });
});

test('a function without its settings says which is missing', async () => {
  delete process.env.JWT_ISSUER;
  await expect(authorize(`Bearer ${await token()}`)).rejects.toThrow('JWT_ISSUER is not set');
});
