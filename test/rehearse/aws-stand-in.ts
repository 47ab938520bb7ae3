/** A local stand-in for the AWS services that the smoke test's function calls, over real HTTP. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { refusal, requestProblems } from '../service-models/requests.ts';
import type { ModelStandIn } from './model-stand-in.ts';
import { type QueueStandIn, startQueue } from './queue-stand-in.ts';

/** What the stand-in answers with. */
export interface StandInOptions extends ModelStandIn {
  /**
   * Fields of DescribeEndpoint's answer, or of an error with its `__type`, or undefined if there is no endpoint; asked at
   * every call.
   */
  readonly endpoint?: () => Readonly<Record<string, unknown>> | undefined;
  /** Status of the stack. @default 'UPDATE_IN_PROGRESS' */
  readonly stackStatus?: () => string;
}

/** As SageMaker answers. */
const NO_ENDPOINT = {
  __type: 'ValidationException',
  message: 'Could not find endpoint "arn:aws:sagemaker:us-east-1:123456789012:endpoint/digits".',
};

/** A running stand-in. */
export interface StandIn {
  readonly url: string;
  /** Where CloudFormation's answer is to be PUT. */
  readonly responseUrl: string;
  /** What was PUT there, in order. */
  readonly responses: readonly Readonly<Record<string, unknown>>[];
  /** Objects of S3 by `/BUCKET/KEY`: requests and answers of asynchronous endpoints. */
  readonly objects: QueueStandIn['objects'];
  close(): Promise<void>;
}

/** Starts a stand-in on a free port. */
export async function startAwsStandIn(options: StandInOptions): Promise<StandIn> {
  const responses: Readonly<Record<string, unknown>>[] = [];
  const queue = startQueue(options);
  const server = createServer((request, response) => {
    answer(request, response, { ...options, queue }, responses).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    responseUrl: `${url}/cloudformation-response`,
    responses,
    objects: queue.objects,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: StandInOptions & { readonly queue: QueueStandIn },
  responses: Readonly<Record<string, unknown>>[],
): Promise<void> {
  const body = await buffer(request);
  const { url = '', headers } = request;
  const problems = requestProblems(request, body);
  if (url === '/cloudformation-response') {
    responses.push(JSON.parse(body.toString()) as Record<string, unknown>);
    response.end();
  } else if (problems.length > 0) {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refusal(problems)));
  } else if (await options.queue.answer(request, response, body)) {
    return;
  } else if (url.startsWith('/endpoints/')) {
    await answerInvocation(request, response, body, options);
  } else if (String(headers['x-amz-target']).endsWith('.DescribeEndpoint')) {
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    const known = options.endpoint ? options.endpoint() : {};
    if (!known || '__type' in known) response.statusCode = 400;
    response.end(JSON.stringify(known ?? NO_ENDPOINT));
  } else if (body.toString().includes('Action=DescribeStacks')) {
    const status = options.stackStatus?.() ?? 'UPDATE_IN_PROGRESS';
    response.setHeader('content-type', 'text/xml');
    response.end(
      `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>stack</StackName><CreationTime>2024-01-01T00:00:00Z</CreationTime><StackStatus>${status}</StackStatus></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  } else {
    response.writeHead(404).end(`no stand-in for ${request.method} ${url}`);
  }
}

/** Status of a {@link ModelReply} that stands for an inference component without copies. */
export const ASLEEP = -1;
/** As SageMaker says it. */
const NO_CAPACITY =
  'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.';

async function answerInvocation(
  { url = '', headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { invoke }: StandInOptions,
): Promise<void> {
  const text = (name: string) => headers[name] as string | undefined;
  const reply = await invoke({
    endpoint: url.split('/')[2] ?? '',
    variant: text('x-amzn-sagemaker-target-variant'),
    component: text('x-amzn-sagemaker-inference-component'),
    contentType: text('content-type'),
    accept: text('accept'),
    customAttributes: text('x-amzn-sagemaker-custom-attributes') ?? '',
    body,
  });
  if (reply.status === ASLEEP) {
    response.writeHead(400, {
      'content-type': 'application/json',
      'x-amzn-errortype': 'ValidationError',
    });
    response.end(JSON.stringify({ Message: NO_CAPACITY }));
    return;
  }
  if (reply.status < 200 || reply.status > 299) {
    response.writeHead(424, {
      'content-type': 'application/json',
      'x-amzn-errortype': 'ModelError',
    });
    const message = Buffer.from(reply.body).toString();
    response.end(
      JSON.stringify({
        Message: `Received client error (${reply.status}) from the model`,
        OriginalMessage: message,
        OriginalStatusCode: reply.status,
      }),
    );
    return;
  }
  response.writeHead(200, {
    'content-type': reply.contentType,
    'x-amzn-sagemaker-custom-attributes': reply.customAttributes,
  });
  response.end(reply.body);
}
