/** Requests in JSON: TensorFlow Serving's forms, and plain values as instances. */
import {
  listLength,
  type PackedNumbers,
  parseJsonLiterals,
  parsePackedJsonDocuments,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import type { DecodeContext, DecodedRequest, RequestCodec } from './codec.ts';
import { reading } from './input-error.ts';
import { columnsToTensors } from './json-columns.ts';
import { examplesToTensors } from './json-examples.ts';
import { genericInstances } from './json-generic.ts';
import { instancesToTensors } from './json-instances.ts';

/** TensorFlow Serving's three forms (its REST API, "Predict API" and "Classify and Regress API"). */
interface ServingDocument {
  readonly signature_name?: unknown;
  readonly instances?: unknown;
  readonly inputs?: unknown;
  readonly examples?: unknown;
  readonly context?: unknown;
}

/**
 * One document is TensorFlow Serving's `{"instances": ...}`, `{"inputs": ...}` or `{"examples": ...}`, else plain values: a
 * list of lists is the instances, anything else one instance. Several documents, one after the other or a
 * line each, are one instance each. Integers are exact to 64 bits; NaN and Infinity may be bare; strings may be
 * `{"b64": "..."}`.
 */
export const jsonRequest: RequestCodec = {
  mediaTypes: ['application/json', 'application/jsonlines', 'application/jsons'],
  async decode(body, context): Promise<DecodedRequest> {
    const documents = reading(() => parsePackedJsonDocuments(body), 'the body');
    const [document, ...others] = documents;
    if (document === undefined) {
      throw new ServingError('BAD_INPUT', 'the body is empty: send JSON');
    }
    if (others.length > 0) return rows(documents, 'document', context);
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
  const named = signatureName(document);
  // The tensors depend on the signature: the caller decodes again with the one that the body names.
  if (named.signatureName !== undefined && named.signatureName !== context.signature.key) {
    return { inputs: {}, form, ...named };
  }
  if (document.instances !== undefined && document.inputs !== undefined) {
    throw new ServingError('BAD_INPUT', `send either "instances" or "inputs", not both`);
  }
  if (document.inputs !== undefined) {
    return { inputs: columnsToTensors(document.inputs, context), form, ...named };
  }
  if (document.examples !== undefined) {
    return { inputs: await decodeExamples(body, context), form, ...named };
  }
  if (!isList(document.instances)) {
    throw new ServingError('BAD_INPUT', '"instances" must be a list, an element for each instance');
  }
  return { inputs: instancesToTensors(document.instances, 'instances', context), form, ...named };
}

function isList(value: unknown): value is readonly unknown[] | PackedNumbers {
  return listLength(value) !== undefined;
}

/** Read once more, because how a number is written decides its feature's type. */
function decodeExamples(body: Uint8Array, context: DecodeContext): Promise<TensorMap> {
  const document = parseJsonLiterals(body) as ServingDocument;
  return examplesToTensors(document.examples, document.context, context);
}

function signatureName({ signature_name: name }: ServingDocument): { signatureName?: string } {
  if (name === undefined || name === '') return {};
  if (typeof name === 'string') return { signatureName: name };
  throw new ServingError('BAD_INPUT', '"signature_name" must be a string');
}
