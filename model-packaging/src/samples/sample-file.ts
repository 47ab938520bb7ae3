/** Sample inputs in files, as clients would send them. */

import { readFile } from 'node:fs/promises';
import type { SampleForm } from '@sagemaker-tfs/container/sample-inputs';
import type { Preprocess } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import {
  DEFAULT_SIGNATURE,
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

/** A sample by its path alone, or with what is sent with it. */
export type SampleSource = string | SampleFile;

/**
 * Reads a sample: TensorFlow Serving's JSON, `.npy`, `.npz` (one array an input), or a picture, which is
 * decoded and resized. All are read and checked as the runtime does. Other files are sent as they are.
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
  const { signatures, preprocess, hasHandler } = target;
  const form = formOf(contentType);
  const named = form === 'application/json' ? signatureNameOf(body) : undefined;
  const signature = pick(signatures, named);
  // A handler decides what a picture becomes.
  const isHandlers = form === 'application/x-image' && hasHandler;
  if (form === undefined || isHandlers) return { signature: signature.key, inputs: undefined };
  // Loaded only now: native codecs, which inspecting and packing do without.
  const { sampleInputs } = await import('@sagemaker-tfs/container/sample-inputs');
  return {
    signature: signature.key,
    inputs: await sampleInputs(body, form, signature, preprocess),
  };
}

const FORMS: readonly SampleForm[] = ['application/json', 'application/x-npy', 'application/x-npz'];

/** The form of a media type, whatever its parameters; undefined for what only the runtime or a handler reads. */
function formOf(contentType: string): SampleForm | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type.startsWith('image/') || type === 'application/x-image') return 'application/x-image';
  return FORMS.find((form) => form === type);
}

function doesNotFit(error: unknown): boolean {
  return isServingError(error) || error instanceof TensorError || error instanceof SyntaxError;
}

/** The runtime's own refusal, recognized by name: its module is loaded only for samples. */
export function isServingError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ServingError';
}

function signatureNameOf(body: Buffer): string | undefined {
  const document = parseJson(body.toString('utf8'));
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
