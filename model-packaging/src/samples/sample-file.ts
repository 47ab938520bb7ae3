/** Sample inputs in files, as clients would send them. */

import { readFile } from 'node:fs/promises';
import type { Preprocess } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import {
  DEFAULT_SIGNATURE,
  decodeNpy,
  decodeNpz,
  mediaTypeOf,
  own,
  parseJson,
  type Signature,
  type SignatureMap,
  TensorError,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import * as z from 'zod';
import { messageOf, PackagingError } from '../errors.ts';

/** A sample as a request body. */
export interface SampleRequest {
  /** Where it comes from, for messages: a path, or `synthetic`. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Signature that it is for. */
  readonly signature: string;
  /** Media type of the answer. Default: the runtime chooses. */
  readonly accept?: string;
  /** As the client sends them, in place of the signature. */
  readonly customAttributes?: string;
}

/** A file with a request, and what is sent with it. */
export interface SampleFile {
  readonly file: string;
  /** Media type of the body. Default: by the ending of the file's name. */
  readonly contentType?: string;
  /** Media type of the answer. Default: the runtime chooses. */
  readonly accept?: string;
  /** Custom attributes of the request. With some, only the runtime gets the sample. Default: none. */
  readonly customAttributes?: string;
}

/** A sample. */
export interface Sample {
  readonly request: SampleRequest;
  /** Undefined for what only the runtime or the handler makes tensors of. */
  readonly inputs: TensorMap | undefined;
}

/** What samples are for. */
export interface SampleTarget {
  readonly signatures: SignatureMap;
  /** How pictures become the input, where it is declared. */
  readonly preprocess?: Preprocess | undefined;
  /** A handler may read any form: a file that does not fit the signature is for it alone. Default: false. */
  readonly hasHandler?: boolean;
}

/** All arrays of an `.npz` together, or the pixels of a picture. */
const MAX_SAMPLE_BYTES = 2 ** 32;
/** Width times height of a picture: more than any camera's. */
const MAX_PIXELS = 2 ** 28;

/** A sample by its path alone, or with what is sent with it. */
export type SampleSource = string | SampleFile;

/**
 * Reads a sample: TensorFlow Serving's JSON, `.npy`, `.npz` (one array an input), or a picture, which is
 * decoded and resized as the runtime does. Other files are sent as they are.
 * @throws PackagingError SOURCE_NOT_FOUND, BAD_SAMPLE, naming the path and the place
 */
export async function readSample(source: SampleSource, target: SampleTarget): Promise<Sample> {
  const { file: path, contentType: declared, ...headers } = sampleFile(source);
  const body = await readFile(path).catch((error: unknown) => {
    const message = `the sample ${path} cannot be read: ${messageOf(error)}.`;
    throw new PackagingError('SOURCE_NOT_FOUND', message, { cause: error });
  });
  const contentType = declared ?? mediaTypeOf(path) ?? 'application/octet-stream';
  const request = { name: path, contentType, body, ...headers };
  try {
    const isForRuntime = headers.customAttributes !== undefined;
    const { signature, inputs } = await decode(body, isForRuntime ? '' : contentType, target);
    return { request: { ...request, signature }, inputs };
  } catch (error) {
    if (!doesNotFit(error)) throw error;
    if (!target.hasHandler) throw badSample(path, messageOf(error), error);
    return {
      request: { ...request, signature: pick(target.signatures, undefined).key },
      inputs: undefined,
    };
  }
}

/** A path as a sample. */
function sampleFile(source: SampleSource): SampleFile {
  return typeof source === 'string' ? { file: source } : source;
}

interface Decoded {
  readonly signature: string;
  readonly inputs: TensorMap | undefined;
}

async function decode(body: Buffer, contentType: string, target: SampleTarget): Promise<Decoded> {
  const { signatures } = target;
  switch (formOf(contentType)) {
    case 'application/json':
      return decodeJson(body, signatures);
    case 'application/x-npy': {
      const signature = pick(signatures, undefined);
      return { signature: signature.key, inputs: { [onlyInput(signature)]: decodeNpy(body) } };
    }
    case 'application/x-npz':
      return {
        signature: pick(signatures, undefined).key,
        inputs: decodeNpz(body, { maxBytes: MAX_SAMPLE_BYTES }),
      };
    case 'application/x-image': {
      const signature = pick(signatures, undefined);
      return { signature: signature.key, inputs: await pictureInputs(body, signature, target) };
    }
    default:
      return { signature: pick(signatures, undefined).key, inputs: undefined };
  }
}

/** A media type without parameters; one name for every kind of picture. */
function formOf(contentType: string): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('image/') ? 'application/x-image' : type;
}

/** The batch of one that the runtime makes of a picture; undefined if a handler decides what it becomes. */
async function pictureInputs(
  body: Uint8Array,
  signature: Signature,
  { preprocess, hasHandler }: SampleTarget,
): Promise<TensorMap | undefined> {
  if (hasHandler) return undefined;
  // Loaded only now: native codecs, which inspecting and packing do without.
  const { DEFAULT_DECODE_LIMITS, imagesToTensors } = await import(
    '@sagemaker-tfs/container/images'
  );
  const limits = {
    ...DEFAULT_DECODE_LIMITS,
    maxDecodedBytes: MAX_SAMPLE_BYTES,
    maxImagePixels: MAX_PIXELS,
  };
  return imagesToTensors(
    [body],
    { signature, ...(preprocess && { preprocess }), limits },
    () => '',
  );
}

function doesNotFit(error: unknown): boolean {
  // The runtime's own refusals, recognized by name: its module is not loaded unless there are pictures.
  const isRefusal = error instanceof Error && error.name === 'ServingError';
  return isRefusal || error instanceof TensorError || error instanceof SyntaxError;
}

/** As the runtime reads it. */
async function decodeJson(body: Buffer, signatures: SignatureMap): Promise<Decoded> {
  const { jsonRequest } = await import('@sagemaker-tfs/container/json-request');
  const { DEFAULT_DECODE_LIMITS } = await import('@sagemaker-tfs/container/images');
  const limits = { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: MAX_SAMPLE_BYTES };
  const signature = pick(signatures, signatureNameOf(parseJson(body.toString('utf8'))));
  const { inputs } = await jsonRequest.decode(body, {
    signature,
    contentType: 'application/json',
    limits,
  });
  return { signature: signature.key, inputs };
}

function signatureNameOf(document: unknown): string | undefined {
  const parsed = z.object({ signature_name: z.string() }).safeParse(document);
  return parsed.data?.signature_name;
}

function pick(signatures: SignatureMap, named: string | undefined): Signature {
  const all = Object.values(signatures);
  const fallback = signatures[DEFAULT_SIGNATURE] ?? (all.length === 1 ? all[0] : undefined);
  const signature = named === undefined ? fallback : own(signatures, named);
  if (signature) return signature;
  throw new SyntaxError(
    `the model has no signature '${named ?? DEFAULT_SIGNATURE}', only ${all.map(({ key }) => key).join(', ')}`,
  );
}

function onlyInput({ key, inputs }: Signature): string {
  const names = Object.keys(inputs);
  if (names.length === 1) return names[0] as string;
  throw new SyntaxError(
    `signature '${key}' has the inputs ${names.join(', ')}. Name each, in JSON or .npz`,
  );
}

/** The error for a sample that does not fit. */
export function badSample(path: string, why: string, cause?: unknown): PackagingError {
  return new PackagingError(
    'BAD_SAMPLE',
    `the sample ${path} does not fit the model: ${sentence(why)} Compare it with what inspect shows.`,
    {
      cause,
    },
  );
}
