/** Answers one REST request. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { toJson } from '@bufbuild/protobuf';
import {
  answeredSpec,
  classify,
  findSignature,
  invalidArgument,
  predict,
  regress,
  type Servable,
  serializedExamples,
} from '@sagemaker-tfs/libtensorflow/serving';
import { type AbortSignalLike, DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import {
  GetModelStatusResponseSchema,
  ModelSpecSchema,
  ownEntries,
  SignatureDefMapSchema,
} from '@sagemaker-tfs/tensors/protos';
import { dieOfCheck } from '../log.ts';
import { modelStatus, signatureDefMap } from '../model-info.ts';
import type { ModelSpec } from '../model-manager.ts';
import type { ServingCore } from '../serving-core.ts';
import { classificationJson, readExamples, regressionJson } from './examples-json.ts';
import { parseBody, parseBodyWithFloats, parsedFor, signatureNameOf } from './json-body.ts';
import { readInputs } from './predict-request.ts';
import { predictionsJson } from './predict-response.ts';
import type { Route } from './routes.ts';

/** Protobuf's JSON with the names of the .proto files and every field, as TensorFlow Serving prints it. */
const JSON_OPTIONS = { useProtoFieldName: true, alwaysEmitImplicit: true };

/**
 * With `--enable_serialization_as_tensor_content` TensorFlow Serving's REST API reads fields that are empty
 * (predict_impl.cc, util/json_tensor.cc): it answers zeros or what lies behind them, or ends. Here it ends.
 */
const FIELDS_CHECK =
  'the REST API finds no values where enable_serialization_as_tensor_content is set';

/** What ends a request, and its run. */
export interface RequestEnds {
  /** Aborts when the request has been answered without its run. */
  readonly answered: AbortSignal;
  /** Has the deadline of the run, which is waited for. */
  readonly run: AbortSignalLike | undefined;
}

/** Writes the answer to `response` unless the request has been answered by then. @throws StatusError */
export async function answer(
  core: ServingCore,
  { kind, spec }: Route,
  body: Buffer,
  response: ServerResponse,
  ends: RequestEnds,
): Promise<void> {
  switch (kind) {
    case 'status':
      return void response.end(statusJson(core, spec));
    case 'metadata':
      return void response.end(await metadataJson(core, spec));
    case 'predict':
      return answerPredict(core, spec, body, response, ends);
    default:
      return answerExamples(core, kind, spec, body, response, ends);
  }
}

async function answerPredict(
  core: ServingCore,
  spec: ModelSpec,
  body: Buffer,
  response: ServerResponse,
  ends: RequestEnds,
): Promise<void> {
  const json = parseBody(body);
  const named = signatureNameOf(json);
  const signature = named || DEFAULT_SIGNATURE;
  await core.models.use(spec, async (servable) => {
    const known = signatureOf(servable, signature);
    if (Object.keys(known.inputs).length === 0) {
      throw invalidArgument(`Failed to get input map for signature: ${named || 'DEFAULT'}`);
    }
    const { format, inputs } = readInputs(parsedFor(known, body, json), known);
    const result = await predict(
      servable,
      { signature, inputs, signal: ends.run },
      core.checkMethodName,
    );
    if (core.tensorContent) dieOfCheck(FIELDS_CHECK);
    try {
      if (!ends.answered.aborted) await send(response, predictionsJson(result.outputs, format));
    } finally {
      result.release();
    }
  });
}

function signatureOf(servable: Servable, name: string) {
  const signature = findSignature(servable, name);
  if (!signature) {
    throw invalidArgument(`Serving signature name: "${name}" not found in signature def`);
  }
  return signature;
}

/** Bytes of a chunk: each goes to the connection by itself. */
const CHUNK_BYTES = 2 ** 16;

function* joined(pieces: Iterable<string | Uint8Array>): Generator<Buffer> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    waiting.push(bytes);
    size += bytes.byteLength;
    if (size < CHUNK_BYTES) continue;
    yield Buffer.concat(waiting);
    [waiting, size] = [[], 0];
  }
  yield Buffer.concat(waiting);
}

/** Sends an answer as the client takes it. */
async function send(
  response: ServerResponse,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  for (const chunk of joined(pieces)) {
    if (response.destroyed) return;
    if (!response.write(chunk))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

async function answerExamples(
  core: ServingCore,
  kind: 'classify' | 'regress',
  spec: ModelSpec,
  body: Buffer,
  response: ServerResponse,
  ends: RequestEnds,
): Promise<void> {
  const parsed = parseBodyWithFloats(body);
  const signature = signatureNameOf(parsed);
  const examples = serializedExamples(readExamples(parsed));
  const json = await core.models.use(spec, async (servable) => {
    const call = [servable, signature, examples, core.checkMethodName, ends.run] as const;
    return kind === 'classify'
      ? classificationJson(await classify(...call))
      : regressionJson(await regress(...call));
  });
  if (!ends.answered.aborted) response.end(json);
}

function statusJson(core: ServingCore, spec: ModelSpec): string {
  const status = toJson(GetModelStatusResponseSchema, modelStatus(core, spec), JSON_OPTIONS);
  return `${JSON.stringify(status, null, 1)}\n`;
}

function metadataJson({ models }: ServingCore, spec: ModelSpec): Promise<string> {
  return models.use(spec, async (servable) => {
    const model = toJson(ModelSpecSchema, answeredSpec(servable, ''), JSON_OPTIONS);
    const signatures = ownEntries(
      toJson(SignatureDefMapSchema, signatureDefMap(servable), JSON_OPTIONS),
    );
    return (
      `{\n"model_spec":${JSON.stringify(model, null, 1)}\n,\n` +
      `"metadata": {"signature_def": ${JSON.stringify(signatures, null, 1)}\n}\n}\n`
    );
  });
}
