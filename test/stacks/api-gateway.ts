/**
 * What API Gateway does with a request to a REST API: it reads a template's methods, converts bodies by AWS's tables, and
 * runs mapping templates with another's Velocity.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
import type { Template } from 'aws-cdk-lib/assertions';
import { render } from 'velocityjs';

type ContentHandling = 'CONVERT_TO_BINARY' | 'CONVERT_TO_TEXT' | undefined;

interface IntegrationResponse {
  readonly StatusCode: string;
  readonly SelectionPattern?: string;
  readonly ContentHandling?: ContentHandling;
  readonly ResponseParameters?: Readonly<Record<string, string>>;
  readonly ResponseTemplates?: Readonly<Record<string, string>>;
}

interface ApiMethod {
  readonly HttpMethod: string;
  readonly RequestParameters?: Readonly<Record<string, boolean>>;
  readonly MethodResponses: readonly {
    readonly StatusCode: string;
    readonly ResponseParameters?: Readonly<Record<string, boolean>>;
  }[];
  readonly Integration: {
    readonly Type: 'AWS' | 'MOCK';
    readonly Uri?: unknown;
    readonly IntegrationHttpMethod?: string;
    readonly ContentHandling?: ContentHandling;
    readonly RequestParameters?: Readonly<Record<string, string>>;
    readonly RequestTemplates?: Readonly<Record<string, string>>;
    readonly IntegrationResponses: readonly IntegrationResponse[];
  };
}

/** An answer to the caller. */
interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Sends a request to the first method of a template with this verb. @param origin where SageMaker's runtime listens */
export async function callApi(
  template: Template,
  origin: string,
  request: {
    readonly verb?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Buffer;
  },
): Promise<ApiAnswer> {
  const { verb = 'POST', body = Buffer.alloc(0) } = request;
  const methods = template.findResources('AWS::ApiGateway::Method');
  const method = Object.values(methods)
    .map(({ Properties }) => Properties as ApiMethod)
    .find(({ HttpMethod }) => HttpMethod === verb);
  if (!method) return { status: 403, headers: new Headers(), body: Buffer.from('') };
  const headers = new Headers(request.headers);
  const [api] = Object.values(template.findResources('AWS::ApiGateway::RestApi'));
  const isBinary = binaryTypes((api?.Properties.BinaryMediaTypes ?? []) as string[]);
  const sent = convert(
    body,
    isBinary(headers.get('content-type')),
    true,
    method.Integration.ContentHandling,
  );
  const backend =
    method.Integration.Type === 'MOCK'
      ? mocked(method, headers, sent)
      : await forward(method, origin, headers, sent);
  return answerOf(method, backend, isBinary, headers.get('accept'));
}

/** What the integration got back. */
interface Backend {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

function binaryTypes(list: readonly string[]) {
  // No type at all matches nothing, as LocalStack found out by asking AWS.
  return (type: string | null) =>
    type !== null && list.some((one) => one === '*/*' || one === type.split(/[;,]/)[0]);
}

/** A row of AWS's tables. Text is a string here, and binary data are bytes. */
function convert(
  body: Buffer,
  isBinary: boolean,
  wantsBinary: boolean,
  handling: ContentHandling,
): Buffer | string {
  const toText =
    handling === 'CONVERT_TO_TEXT' || (!handling && !(isBinary && wantsBinary) && !isBinary);
  if (isBinary) {
    const encoded = handling === 'CONVERT_TO_TEXT' || (!handling && !wantsBinary);
    return encoded ? body.toString('base64') : body;
  }
  return toText ? body.toString('utf8') : Buffer.from(body.toString('utf8'), 'base64');
}

async function forward(
  { Integration }: ApiMethod,
  origin: string,
  given: Headers,
  body: Buffer | string,
): Promise<Backend> {
  const headers = new Headers();
  for (const [to, from] of Object.entries(Integration.RequestParameters ?? {})) {
    const value = given.get(from.replace('method.request.header.', ''));
    if (value !== null) headers.set(to.replace('integration.request.header.', ''), value);
  }
  // The service and its path: the last part of the ARN.
  const uri = JSON.stringify(Integration.Uri);
  const path = /:runtime\.sagemaker:path\/(.*?)"\]\]/.exec(uri)?.[1];
  if (path === undefined) throw new Error(`no path of SageMaker's runtime: ${uri}`);
  const response = await fetch(`${origin}/${path}`, {
    method: Integration.IntegrationHttpMethod ?? 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
}

/** A mock answers with the status that its request template has; a template needs text. */
function mocked({ Integration }: ApiMethod, headers: Headers, body: Buffer | string): Backend {
  if (typeof body !== 'string') return { status: 500, headers: new Headers(), body };
  const type = headers.get('content-type') ?? 'application/json';
  const template = Integration.RequestTemplates?.[type] ?? '{}';
  const { statusCode } = JSON.parse(render(template, {})) as { statusCode: number };
  return { status: statusCode, headers: new Headers(), body: Buffer.alloc(0) };
}

function answerOf(
  method: ApiMethod,
  backend: Backend,
  isBinary: (type: string | null) => boolean,
  accept: string | null,
): ApiAnswer {
  const responses = method.Integration.IntegrationResponses;
  const matching = responses.filter(({ SelectionPattern: pattern }) =>
    pattern === undefined ? false : new RegExp(`^(?:${pattern})$`).test(String(backend.status)),
  );
  // Which of several would be taken is not documented.
  if (matching.length > 1) throw new Error(`${matching.length} responses for ${backend.status}`);
  const chosen =
    matching[0] ?? responses.find(({ SelectionPattern }) => SelectionPattern === undefined);
  const declared = method.MethodResponses.find((one) => one.StatusCode === chosen?.StatusCode);
  if (!chosen || !declared) return { status: 500, headers: new Headers(), body: Buffer.alloc(0) };
  const headers = new Headers();
  for (const [to, from] of Object.entries(chosen.ResponseParameters ?? {})) {
    if (!(to in (declared.ResponseParameters ?? {}))) throw new Error(`${to} is not declared`);
    const value = /^'(.*)'$/.exec(from)?.[1];
    const taken = value ?? backend.headers.get(from.replace('integration.response.header.', ''));
    if (taken !== null) headers.set(to.replace('method.response.header.', ''), taken);
  }
  const type = backend.headers.get('content-type');
  const body = convert(backend.body, isBinary(type), isBinary(accept), chosen.ContentHandling);
  const template = chosen.ResponseTemplates?.['application/json'];
  if (template === undefined) {
    return { status: Number(chosen.StatusCode), headers, body: Buffer.from(body) };
  }
  if (typeof body !== 'string') throw new Error('a template needs text');
  const [text, override] = rendered(template, body);
  const status = Number.isInteger(override) ? Number(override) : Number(chosen.StatusCode);
  return { status, headers, body: Buffer.from(text) };
}

/** Methods of Java's strings that JavaScript's have not, or have otherwise. */
const JAVA = [
  {
    uid: 'contains',
    match: ({ property }: { property: string }) => property === 'contains',
    resolve: ({ context, params }: { context: string; params: string[] }) =>
      context.includes(params[0] ?? ''),
  },
  {
    uid: 'replaceAll',
    match: ({ property }: { property: string }) => property === 'replaceAll',
    resolve: ({ context, params }: { context: string; params: string[] }) =>
      context.replace(new RegExp(params[0] ?? '', 'g'), params[1] ?? ''),
  },
];

/** Output of a template, and the status that it sets. */
function rendered(template: string, body: string): readonly [string, unknown] {
  const context: { responseOverride: { status?: unknown } } = { responseOverride: {} };
  const util = {
    base64Decode: (text: string) => Buffer.from(text, 'base64').toString('utf8'),
    parseJson: (text: string) => JSON.parse(text) as unknown,
    escapeJavaScript: (text: string) =>
      JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/').replaceAll("'", "\\'"),
  };
  const text = render(template, { input: { body }, util, context }, undefined, {
    customMethodHandlers: JAVA,
  });
  return [text, context.responseOverride.status];
}
