/** Chooses the codec for a request by its Content-Type and for a response by what the client accepts. */
import type { TensorMap } from '@sagemaker-tfs/tensors';
import { acceptableTypes, covers, parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import { ServingError } from '../errors.ts';
import { remembered } from '../memory/remembered.ts';
import { applyPostprocess } from '../postprocess/apply-postprocess.ts';
import { bodyKind, readBodyInThread } from './body-thread.ts';
import type {
  DecodeContext,
  DecodedRequest,
  EncodeContext,
  EncodedResponse,
  ReadRequest,
  RequestCodec,
  ResponseCodec,
} from './codec.ts';
import { csvRequest } from './csv.ts';
import { csvResponse } from './csv-response.ts';
import { checkEmptyOutputs } from './empty-elements.ts';
import { withPictures } from './held-pictures.ts';
import { imageRequest } from './image.ts';
import { inputError, shortened } from './input-error.ts';
import { jsonRequest } from './json-request.ts';
import { jsonLinesResponse, jsonResponse } from './json-response.ts';
import { lengthPrefixedRequest } from './length-prefixed.ts';
import { npyRequest, npyResponse } from './npy.ts';
import { npzRequest, npzResponse } from './npz.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { parquetRequest } from './parquet.ts';
import { parquetResponse } from './parquet-response.ts';
import { protobufRecordIoRequest, recordIoRequest } from './recordio.ts';
import { tfRecordRequest, tfRecordResponse } from './tfrecord.ts';

const REQUEST_CODECS: readonly RequestCodec[] = [
  jsonRequest,
  csvRequest,
  imageRequest,
  npyRequest,
  npzRequest,
  tfRecordRequest,
  recordIoRequest,
  protobufRecordIoRequest,
  lengthPrefixedRequest,
  parquetRequest,
];

/** The first is the default: what a client gets that accepts anything. */
const RESPONSE_CODECS: readonly ResponseCodec[] = [
  jsonResponse,
  jsonLinesResponse,
  csvResponse,
  npyResponse,
  npzResponse,
  tfRecordResponse,
  parquetResponse,
];

/** Those that can show that a record has no answer. */
const BESIDE_BAD_RECORDS: ReadonlySet<ResponseCodec> = new Set([
  jsonResponse,
  jsonLinesResponse,
  csvResponse,
  npzResponse,
]);

/** A request without a Content-Type is read as this. */
const DEFAULT_REQUEST_TYPE = 'application/json';

const PARQUET_IS_OFF =
  'Parquet is off here. Set SAGEMAKER_TFS_PARQUET=true in the environment of the model, or with --env of sagemaker-tfs serve.';

/** Every media type that requests may have, `image/*` included. Those of Parquet are read where it is on. */
export function requestMediaTypes(): readonly string[] {
  return REQUEST_CODECS.flatMap(({ mediaTypes }) => mediaTypes);
}

/** Every media type that responses may have, the default first. That of Parquet is written where it is on. */
export function responseMediaTypes(): readonly string[] {
  return RESPONSE_CODECS.flatMap(({ mediaTypes }) => mediaTypes);
}

/** Those to choose from, for a client whose own is unknown. */
function usable(mediaTypes: readonly string[], parquet: boolean | undefined): string {
  const others = parquetRequest.mediaTypes;
  return mediaTypes.filter((type) => parquet || !others.includes(type)).join(', ');
}

/**
 * Decodes a body by `context.contentType`.
 * @throws ServingError UNSUPPORTED_MEDIA_TYPE with the list of known types; other 4xx where the body is bad
 */
export async function decodeRequest(
  body: Uint8Array,
  context: DecodeContext,
): Promise<DecodedRequest> {
  const { contentType, limits } = context;
  const codec = requestCodec(contentType);
  if (!codec) {
    throw new ServingError(
      'UNSUPPORTED_MEDIA_TYPE',
      `unsupported Content-Type '${contentType}'. Use one of ${usable(requestMediaTypes(), limits.parquet)}.`,
    );
  }
  if (codec === parquetRequest && !limits.parquet) {
    throw new ServingError(
      'UNSUPPORTED_MEDIA_TYPE',
      `${PARQUET_IS_OFF} Or send one of ${usable(requestMediaTypes(), false)}.`,
    );
  }
  if (body.length === 0) {
    throw new ServingError('BAD_INPUT', 'the body is empty (0 bytes). Does the file exist?');
  }
  try {
    const read = await inThread(codec, body, context);
    return read ? await withPictures(read, context) : await codec.decode(body, context);
  } catch (error) {
    throw inputError(error);
  }
}

/** Undefined if there is none. @throws ServingError for text in another charset */
const requestCodec = remembered((contentType): RequestCodec | undefined => {
  const { type, parameters } = parseMediaType(contentType || DEFAULT_REQUEST_TYPE);
  const codec = REQUEST_CODECS.find(({ mediaTypes }) =>
    mediaTypes.some((known) => covers(known, type)),
  );
  if (codec && isText(codec) && WIDE_CHARSETS.test(parameters.charset ?? '')) {
    throw new ServingError(
      'UNSUPPORTED_MEDIA_TYPE',
      `${type} is read as UTF-8, not as ${shortened(parameters.charset ?? '')}. Send it as UTF-8.`,
    );
  }
  return codec;
});

/** Charsets in which not even ASCII is what it is in UTF-8. Clients name others without asking anybody. */
const WIDE_CHARSETS = /^(utf-?(16|32)|ucs-?[24])/i;

function isText(codec: RequestCodec): boolean {
  return codec === jsonRequest || codec === csvRequest;
}

/** Undefined if the body is to be decoded here. */
async function inThread(
  codec: RequestCodec,
  body: Uint8Array,
  { signal, ...context }: DecodeContext,
): Promise<ReadRequest | undefined> {
  const kind = bodyKind(codec);
  return kind && readBodyInThread({ kind, body, context }, signal);
}

/**
 * Encodes outputs, after the declared postprocess, in the type that the client likes best of those that can
 * carry them.
 * @param accept the Accept header; undefined or empty accepts anything
 * @throws ServingError NOT_ACCEPTABLE with what fits, or why the accepted types cannot carry these outputs;
 *   RESPONSE_TOO_LARGE for an output of too many empty rows
 */
export async function encodeResponse(
  outputs: TensorMap,
  accept: string | undefined,
  context: EncodeContext,
): Promise<EncodedResponse> {
  checkEmptyOutputs(outputs, context.maxEmptyRows);
  const result = await postprocessed(outputs, context);
  let refusal: ServingError | undefined;
  let parquetWanted = false;
  for (const codec of responseCodecs(accept ?? '')) {
    if (context.badRecords && !BESIDE_BAD_RECORDS.has(codec)) continue;
    if (codec === parquetResponse && !context.parquet) {
      parquetWanted = true;
      continue;
    }
    try {
      return await codec.encode(result.outputs, result.context);
    } catch (error) {
      if (!(error instanceof ServingError) || error.code !== 'NOT_ACCEPTABLE') throw error;
      refusal ??= error;
    }
  }
  throw (
    refusal ??
    new ServingError(
      'NOT_ACCEPTABLE',
      parquetWanted
        ? `${PARQUET_IS_OFF} Or accept one of ${usable(responseMediaTypes(), false)}.`
        : `unsupported Accept '${accept}'. Use one of ${usable(responseMediaTypes(), context.parquet)}.`,
    )
  );
}

/** Whether JSON is what a client with this Accept header likes best. */
export function prefersJson(accept: string | undefined): boolean {
  return responseCodecs(accept ?? '')[0] === jsonResponse;
}

/** Those that an Accept header allows, best first. */
const responseCodecs = remembered((accept): readonly ResponseCodec[] =>
  acceptableTypes(accept, responseMediaTypes()).flatMap((type) =>
    RESPONSE_CODECS.filter(({ mediaTypes }) => mediaTypes.includes(type)),
  ),
);

async function postprocessed(
  outputs: TensorMap,
  context: EncodeContext,
): Promise<{ readonly outputs: TensorMap; readonly context: EncodeContext }> {
  if (!context.postprocess) return { outputs, context };
  // TensorFlow Serving sends outputs in any order.
  const ordered = orderedOutputs(outputs, context);
  const result = await applyPostprocess(ordered, context.postprocess, context);
  const outputOrder = Object.keys(result.outputs);
  return { outputs: result.outputs, context: { ...context, ...result, outputOrder } };
}
