/** A SageMaker endpoint, by the AWS SDK. */
import type {
  InvokeEndpointOutput,
  InvokeEndpointWithResponseStreamOutput,
  ResponseStream,
  SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { answerCut, answerTooLarge } from '../errors/network-error.ts';
import { serviceError } from '../errors/service-error.ts';
import type {
  AnswerHead,
  EndpointTarget,
  IncomingAnswer,
  IncomingStream,
  OutgoingRequest,
  Transport,
} from './target.ts';

/** Clients keep connections open, so there is one a region. */
const clients = new Map<string, SageMakerRuntimeClient>();

/** The transport to an endpoint. The SDK is loaded here, so that callers of plain URLs do without it. */
export async function endpointTransport(target: EndpointTarget): Promise<Transport> {
  const { endpointName } = target;
  const client = await endpointClient(target);
  return {
    address: `endpoint ${endpointName}`,
    retriesItself: (await client.config.maxAttempts()) > 1,
    send: (request) => send(client, endpointName, request),
    stream: (request) => stream(client, endpointName, request),
  };
}

/** The target's client, or the one of its region, which leaves repetitions to its caller. */
export async function endpointClient(
  target: Pick<EndpointTarget, 'client' | 'region'>,
): Promise<SageMakerRuntimeClient> {
  if (target.client) return target.client;
  const { SageMakerRuntimeClient } = await import('@aws-sdk/client-sagemaker-runtime');
  const key = target.region ?? '';
  const client =
    clients.get(key) ??
    new SageMakerRuntimeClient({
      maxAttempts: 1,
      ...(target.region && { region: target.region }),
    });
  clients.set(key, client);
  return client;
}

async function send(
  client: SageMakerRuntimeClient,
  endpointName: string,
  request: OutgoingRequest,
): Promise<IncomingAnswer> {
  const { InvokeEndpointCommand } = await import('@aws-sdk/client-sagemaker-runtime');
  const { signal } = request;
  const command = new InvokeEndpointCommand(inputOf(endpointName, request));
  const answer = await client.send(command, { abortSignal: signal }).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : serviceError(cause, endpointName);
  });
  const bytes = answer.Body ?? new Uint8Array();
  // It is held already: SageMaker itself bounds what it returns.
  if (bytes.length > request.maxAnswerBytes) {
    throw answerTooLarge(`endpoint ${endpointName}`, request.maxAnswerBytes);
  }
  return { ...headOf(answer), bytes };
}

async function stream(
  client: SageMakerRuntimeClient,
  endpointName: string,
  request: OutgoingRequest,
): Promise<IncomingStream> {
  const { InvokeEndpointWithResponseStreamCommand } = await import(
    '@aws-sdk/client-sagemaker-runtime'
  );
  const { signal } = request;
  const command = new InvokeEndpointWithResponseStreamCommand(inputOf(endpointName, request));
  const answer = await client.send(command, { abortSignal: signal }).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : serviceError(cause, endpointName);
  });
  return { ...headOf(answer), chunks: chunksOf(answer.Body, endpointName, signal) };
}

/** @throws PredictionError for the errors that SageMaker sends within the stream */
async function* chunksOf(
  events: AsyncIterable<ResponseStream> | undefined,
  endpointName: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const { PayloadPart, ModelStreamError, InternalStreamFailure } of events ?? []) {
      const error = ModelStreamError ?? InternalStreamFailure;
      if (error) throw error;
      if (PayloadPart?.Bytes) yield PayloadPart.Bytes;
    }
  } catch (cause) {
    throw signal.aborted ? signal.reason : answerCut(cause, `endpoint ${endpointName}`);
  }
}

function inputOf(endpointName: string, request: OutgoingRequest) {
  return {
    EndpointName: endpointName,
    Body: request.body,
    ContentType: request.contentType,
    Accept: request.accept,
    CustomAttributes: request.customAttributes || undefined,
    TargetModel: request.targetModel,
    TargetVariant: request.targetVariant,
    InferenceComponentName: request.inferenceComponent,
  };
}

function headOf(answer: InvokeEndpointOutput | InvokeEndpointWithResponseStreamOutput): AnswerHead {
  // The SDK throws for anything but success.
  return {
    status: 200,
    contentType: answer.ContentType ?? '',
    customAttributes: answer.CustomAttributes ?? '',
  };
}
