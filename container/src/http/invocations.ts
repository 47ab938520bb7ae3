/** `POST /invocations`: one inference. */
import { shortFingerprint } from '@sagemaker-tfs/manifest';
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import type { EncodedResponse } from '../codecs/codec.ts';
import { ServingError } from '../errors.ts';
import {
  formatAttributes,
  parseRequestAttributes,
  type RequestAttributes,
} from '../inference/custom-attributes.ts';
import { HeldResults } from '../inference/held-results.ts';
import type { Inference } from '../inference/inference.ts';
import { Stopwatch } from '../observability/timings.ts';
import type { Ticket } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { modelOf, prepare } from './prepare.ts';
import { checkLength, contentLengthOf, readBody, streamBody } from './read-body.ts';
import type { Reply } from './reply.ts';
import { recordRequest } from './request-log.ts';
import type { Services } from './services.ts';

/** Answers a request to the model that it names, or to `modelName` where the path named one. */
export async function invoke(
  services: Services,
  exchange: Exchange,
  modelName?: string,
): Promise<Reply> {
  const results = new HeldResults();
  exchange.onClosed(results.use());
  const workDone = results.use();
  try {
    return await infer(services, exchange, results, modelName);
  } finally {
    workDone();
  }
}

async function infer(
  services: Services,
  exchange: Exchange,
  results: HeldResults,
  modelName: string | undefined,
): Promise<Reply> {
  const stopwatch = new Stopwatch();
  const { request, signal } = exchange;
  const record = recordRequest(services, exchange, stopwatch);
  const attributes = parseRequestAttributes(headerText(request.headers[HEADER]));
  const name = modelName ?? modelOf(attributes, services);
  const maxBytes = services.environment.limits.maxRequestBytes;
  checkLength(request, { maxBytes });
  refuseEncoded(request.headers['content-encoding']);
  const archive = services.archiveOf(name);
  const streams = archive.handler?.streaming === true;
  const ticket = exchange.admit(streams ? 0 : (contentLengthOf(request) ?? 0));

  const body = streams ? undefined : await receive(exchange, maxBytes, ticket);
  // Only now: a client that dribbles its body must not keep a model that is to be unloaded.
  if (services.holdModel) exchange.onFinish(services.holdModel(name));
  if (services.archiveOf(name) !== archive) throw replaced(name);
  stopwatch.received();
  const { inference, answer: answerTo } = await prepare(services, {
    request,
    contentLength: contentLengthOf(request),
    modelName: name,
    attributes,
    signal,
    requestId: exchange.id,
    stopwatch,
    results,
    ticket,
  });
  record.inference = inference;
  record.requestBytes = body?.byteLength ?? contentLengthOf(request);
  const answer = await answerTo(body ?? chunks(exchange, maxBytes));
  stopwatch.done();
  return {
    status: answer.status,
    headers: headersOf(answer, inference, attributes, stopwatch),
    body: results.usedBy(answer.body),
  };
}

const HEADER = CUSTOM_ATTRIBUTES_HEADER.toLowerCase();

function replaced(name: string): ServingError {
  const message = `model ${name} was unloaded and loaded again before the whole request had come. Send it again.`;
  return new ServingError('MODEL_NOT_READY', message);
}

function receive(exchange: Exchange, maxBytes: number, ticket: Ticket): Promise<Buffer> {
  exchange.acceptBody();
  const { request, signal } = exchange;
  return readBody(request, { maxBytes, signal, onBytes: ticket.received });
}

/** The body in pieces. They count as held by nobody: the handler keeps what it needs, the connection buffers little. */
function chunks(exchange: Exchange, maxBytes: number): AsyncIterable<Uint8Array> {
  exchange.acceptBody();
  return streamBody(exchange.request, { maxBytes });
}

function headersOf(
  answer: EncodedResponse,
  inference: Inference,
  attributes: RequestAttributes,
  stopwatch: Stopwatch,
): Reply['headers'] {
  const { fingerprint } = inference.manifest ?? {};
  const version = inference.answeredVersion ?? inference.model.version;
  const named = new Map([
    ['tfs-fingerprint', fingerprint && shortFingerprint(fingerprint)],
    ['tfs-model-version', version],
    ...Object.entries(answer.customAttributes ?? {}),
    ['tfs-timings', attributes.timings ? timingsText(stopwatch) : undefined],
  ] as const);
  const header = formatAttributes(named);
  if (header === '') return { 'Content-Type': answer.contentType };
  return { 'Content-Type': answer.contentType, [CUSTOM_ATTRIBUTES_HEADER]: header };
}

/** `receive:0.2;queue:0.0;decode:1.1;predict:3.0;encode:0.1`, milliseconds. */
function timingsText(stopwatch: Stopwatch): string {
  return Object.entries(stopwatch.timings())
    .map(([part, milliseconds]) => `${part}:${milliseconds.toFixed(2)}`)
    .join(';');
}

function refuseEncoded(encoding: string | undefined): void {
  if (!encoding || encoding === 'identity') return;
  throw new ServingError(
    'UNSUPPORTED_MEDIA_TYPE',
    `the body is encoded with ${encoding}. Send it as it is.`,
  );
}

function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}
