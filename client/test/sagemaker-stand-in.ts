/**
 * SageMaker's runtime API (InvokeEndpoint, InvokeEndpointAsync, InvokeEndpointWithResponseStream) before a serving runtime, as the service has
 * it: of the container's headers only the media type and the custom attributes come through, and its errors
 * become ModelError.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { refusal, requestProblems } from '../../test/service-models/requests.ts';
import { serve, type TestServer } from './servers.ts';

const ATTRIBUTES = 'x-amzn-sagemaker-custom-attributes';

/** The only endpoint that there is. */
export const ENDPOINT = 'digits-endpoint';
/** Where ModelError says that the log is. */
export const LOG_ARN = 'arn:aws:logs:us-east-1:123456789012:log-group:/aws/sagemaker/Endpoints/x';

const COMPONENT = 'x-amzn-sagemaker-inference-component';
const NO_CAPACITY =
  'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.';
/** Inference components that have no copies. */
export const asleep = new Set<string>();

/** Starts the stand-in. */
export function standIn(runtimeUrl: string): Promise<TestServer> {
  return serve((request, response, body) => {
    const problems = requestProblems(request, body);
    if (problems.length > 0) return fail(response, 400, 'ValidationError', refusal(problems));
    const [, , name, verb] = request.url?.split('/') ?? [];
    if (name !== ENDPOINT) {
      const Message = `Endpoint ${name} of account 123456789012 not found.`;
      return fail(response, 400, 'ValidationError', { Message });
    }
    if (asleep.has(String(request.headers[COMPONENT]))) {
      return fail(response, 400, 'ValidationError', { Message: NO_CAPACITY });
    }
    if (verb === 'async-invocations') return accept(request, response);
    const isStream = verb === 'invocations-response-stream';
    return forward(runtimeUrl, request, response, { body, isStream });
  });
}

/** A client of the stand-in. */
export function clientOf(server: TestServer, maxAttempts = 1): SageMakerRuntimeClient {
  return new SageMakerRuntimeClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts,
  });
}

async function forward(
  runtimeUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  { body, isStream }: { body: Buffer; isStream: boolean },
): Promise<void> {
  const { headers } = request;
  const answer = await fetch(`${runtimeUrl}/invocations`, {
    method: 'POST',
    headers: {
      'content-type': headers['content-type'] ?? '',
      accept: String(headers['x-amzn-sagemaker-accept'] ?? headers.accept ?? ''),
      [ATTRIBUTES]: String(headers[ATTRIBUTES] ?? ''),
    },
    body: Uint8Array.from(body),
  }).catch(() => undefined);
  if (!answer) {
    const Message = 'The primary container did not answer.';
    return fail(response, 424, 'ModelError', { Message, OriginalStatusCode: 500 });
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) {
    const text = bytes.toString('utf8');
    fail(response, 424, 'ModelError', {
      Message: `Received client error (${answer.status}) from primary with message "${text}".`,
      OriginalStatusCode: answer.status,
      OriginalMessage: text,
      LogStreamArn: LOG_ARN,
    });
    return;
  }
  const contentType = answer.headers.get('content-type') ?? '';
  response
    .writeHead(200, {
      'Content-Type': isStream ? 'application/vnd.amazon.eventstream' : contentType,
      ...(isStream && { 'x-amzn-sagemaker-content-type': contentType }),
      [ATTRIBUTES]: answer.headers.get(ATTRIBUTES) ?? '',
      'x-amzn-invoked-production-variant': 'AllTraffic',
    })
    .end(isStream ? Buffer.concat(eventStream(bytes)) : bytes);
}

/** The bytes in two events of the AWS event stream encoding. */
function eventStream(bytes: Buffer): Buffer[] {
  const middle = Math.ceil(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)].map(payloadPart);
}

/** Prelude (lengths and their CRC), headers, payload, CRC of it all. */
function payloadPart(payload: Buffer): Buffer {
  const headers = Buffer.concat(
    Object.entries({ ':message-type': 'event', ':event-type': 'PayloadPart' }).map(stringHeader),
  );
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(prelude.length + headers.length + payload.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, payload, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function stringHeader([name, value]: [string, string]): Buffer {
  const STRING = 7;
  const start = [Buffer.of(name.length), Buffer.from(name), Buffer.of(STRING, 0, value.length)];
  return Buffer.concat([...start, Buffer.from(value)]);
}

function accept(request: IncomingMessage, response: ServerResponse): void {
  const input = String(request.headers['x-amzn-sagemaker-inputlocation']);
  response
    .writeHead(202, {
      'Content-Type': 'application/json',
      'x-amzn-sagemaker-outputlocation': `${input}.out`,
    })
    .end(JSON.stringify({ InferenceId: 'inference-1' }));
}

function fail(response: ServerResponse, status: number, type: string, body: object): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'x-amzn-errortype': type })
    .end(JSON.stringify(body));
}
