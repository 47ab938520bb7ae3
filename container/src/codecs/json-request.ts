/** Requests in JSON: TensorFlow Serving's forms, and plain values as instances. */
import {
  isBase64Object,
  listLength,
  type PackedNumbers,
  parseJsonLiteralDocuments,
  parsePackedJsonDocuments,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { type DecodeContext, type DecodedRequest, placeOf, type RequestCodec } from './codec.ts';
import { reading } from './input-error.ts';
import { columnsToTensors } from './json-columns.ts';
import { type ExamplesDocument, examplesToTensors } from './json-examples.ts';
import { genericInstances } from './json-generic.ts';
import { instancesToTensors } from './json-instances.ts';

/** TensorFlow Serving's three forms (its REST API, "Predict API" and "Classify and Regress API"). */
interface ServingDocument extends ExamplesDocument {
  readonly signature_name?: unknown;
  readonly instances?: unknown;
  readonly inputs?: unknown;
}

/**
 * One document is TensorFlow Serving's `{"instances": ...}`, `{"inputs": ...}` or `{"examples": ...}`, else plain values: a
 * list of lists is the instances, anything else one instance. Several documents, one after the other or a
 * line each, are one instance each; where they are `{"examples": [...]}`, their examples come in turn. Integers are exact to 64 bits; NaN and Infinity may be bare; strings may be
 * `{"b64": "..."}`.
 */
export const jsonRequest: RequestCodec = {
  mediaTypes: ['application/json', 'application/jsonlines', 'application/jsons'],
  async decode(body, context): Promise<DecodedRequest> {
    const documents = reading(() => parsePackedJsonDocuments(body), 'the body');
    const [document, ...others] = documents;
    if (document === undefined) {
      throw new ServingError('BAD_INPUT', 'the body is empty. Send JSON.');
    }
    if (others.length > 0) return decodeDocuments(documents, body, context);
    if (isServingDocument(document)) return decodeServingDocument(document, body, context);
    const { instances, name } = genericInstances(document, context.signature);
    return rows(instances, name, context);
  },
};

function rows(
  instances: readonly unknown[] | PackedNumbers,
  name: string,
  context: DecodeContext,
): DecodedRequest {
  return { inputs: instancesToTensors(instances, name, context), form: 'row' };
}

function decodeDocuments(
  documents: readonly unknown[],
  body: Uint8Array,
  context: DecodeContext,
): DecodedRequest | Promise<DecodedRequest> {
  const odd = documents.findIndex((document) => !hasExamples(document, context));
  if (odd === 0) return rows(documents, 'document', context);
  if (odd < 0) return decodeExamples(documents as ServingDocument[], body, context);
  const message = `document ${placeOf(context, odd)} has no list of "examples", as document ${placeOf(context, 0)} has. Send examples alone, or an instance a document.`;
  throw new ServingError('BAD_INPUT', message);
}

/** An input may have that name; it takes no objects but `{"b64"}`. */
function hasExamples(document: unknown, { signature }: DecodeContext): boolean {
  if (typeof document !== 'object' || document === null) return false;
  if (!Object.hasOwn(document, 'examples')) return false;
  const { examples } = document as ServingDocument;
  const [first] = Array.isArray(examples) ? examples : [];
  const isObject = typeof first === 'object' && first !== null && !Array.isArray(first);
  return isObject ? !isBase64Object(first) : !Object.hasOwn(signature.inputs, 'examples');
}

function isServingDocument(document: unknown): document is ServingDocument {
  if (typeof document !== 'object' || document === null) return false;
  return ['instances', 'inputs', 'examples'].some((key) => Object.hasOwn(document, key));
}

async function decodeServingDocument(
  document: ServingDocument,
  body: Uint8Array,
  context: DecodeContext,
): Promise<DecodedRequest> {
  const form = document.inputs === undefined ? 'row' : 'columnar';
  const named = signatureName([document]);
  if (isOther(named, context)) return { inputs: {}, form, ...named };
  if (document.instances !== undefined && document.inputs !== undefined) {
    throw new ServingError('BAD_INPUT', `send either "instances" or "inputs", not both.`);
  }
  if (document.inputs !== undefined) {
    return { inputs: columnsToTensors(document.inputs, context), form, ...named };
  }
  if (document.examples !== undefined) return decodeExamples([document], body, context);
  if (!isList(document.instances)) {
    throw new ServingError(
      'BAD_INPUT',
      '"instances" must be a list, an element for each instance.',
    );
  }
  return { inputs: instancesToTensors(document.instances, 'instances', context), form, ...named };
}

function isList(value: unknown): value is readonly unknown[] | PackedNumbers {
  return listLength(value) !== undefined;
}

async function decodeExamples(
  documents: readonly ServingDocument[],
  body: Uint8Array,
  context: DecodeContext,
): Promise<DecodedRequest> {
  const named = signatureName(documents);
  if (isOther(named, context)) return { inputs: {}, form: 'row', ...named };
  // Read once more, because how a number is written decides its feature's type.
  const exact = parseJsonLiteralDocuments(body) as ExamplesDocument[];
  return { inputs: await examplesToTensors(exact, context), form: 'row', ...named };
}

interface NamedSignature {
  readonly signatureName?: string;
}

/** The tensors depend on the signature: the caller decodes again with the one that the body names. */
function isOther({ signatureName }: NamedSignature, { signature }: DecodeContext): boolean {
  return signatureName !== undefined && signatureName !== signature.key;
}

/** @throws ServingError BAD_INPUT if it is no text, or documents name several */
function signatureName(documents: readonly ServingDocument[]): NamedSignature {
  const names = new Set(documents.map(({ signature_name: name }) => name ?? ''));
  if (
    documents.some(({ signature_name: name }) => name !== undefined && typeof name !== 'string')
  ) {
    throw new ServingError('BAD_INPUT', '"signature_name" must be a string.');
  }
  if (names.size > 1) {
    throw new ServingError('BAD_INPUT', 'the documents have several "signature_name". Send one.');
  }
  const [name] = names;
  return typeof name === 'string' && name !== '' ? { signatureName: name } : {};
}
