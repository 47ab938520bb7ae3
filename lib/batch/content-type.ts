/** Media type of the inputs of a run, decided when the app is synthesized. */
import { likelyPicture, type Manifest } from '@sagemaker-tfs/manifest';
import { DEFAULT_SIGNATURE, DTYPES, type DType, type TensorSpec } from '@sagemaker-tfs/tensors';
import type { Construct } from 'constructs';
import type { IModel } from '../model.ts';
import { invalidProp } from '../validation.ts';

/** The runtime's own name for pictures of any format. */
const PICTURES = 'application/x-image';

const FIX =
  "Set contentType, for example 'text/csv', 'application/jsonlines', 'application/x-npy' or 'application/x-image'";

/**
 * The type that is given, or that of pictures if the model was packaged here and takes pictures.
 * @throws naming the prop if the type is not given, and the model does not tell it
 */
export function contentTypeOf(
  scope: Construct,
  { contentType, model }: { readonly contentType?: string; readonly model: IModel },
): string {
  if (contentType !== undefined) return contentType;
  // This stack is not among those to deploy, so the model has not been read.
  if (!model.stack.bundlingRequired) return PICTURES;
  const { manifest } = model.data;
  if (!manifest) {
    return invalidProp(scope, 'contentType', 'nothing here shows what the model takes', FIX);
  }
  if (takesPictures(manifest)) return PICTURES;
  return invalidProp(scope, 'contentType', `the model takes ${inputsOf(manifest)}`, FIX);
}

/** The signature that a request asks if it names none. */
function signatureOf({ models: [first] }: Manifest) {
  const signatures = first?.signatures ?? {};
  return signatures[DEFAULT_SIGNATURE] ?? Object.values(signatures)[0];
}

function takesPictures(manifest: Manifest): boolean {
  const signature = signatureOf(manifest);
  if (!signature) return false;
  const { methodName, inputs, outputs } = signature;
  return (
    likelyPicture(manifest.preprocess, {
      key: DEFAULT_SIGNATURE,
      methodName,
      inputs: specsOf(inputs),
      outputs: specsOf(outputs),
    }) !== undefined
  );
}

type Inputs = NonNullable<ReturnType<typeof signatureOf>>['inputs'];

function specsOf(specs: Inputs): Readonly<Record<string, TensorSpec>> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { dtype, shape }]) => [
      name,
      {
        tensorName: name,
        dtype: isDType(dtype) ? dtype : undefined,
        dtypeEnum: isDType(dtype) ? DTYPES[dtype].enumValue : 0,
        shape: shape ?? undefined,
      },
    ]),
  );
}

function isDType(name: string): name is DType {
  return Object.hasOwn(DTYPES, name);
}

/** Inputs that a message names, at most. */
const MOST_NAMED = 4;

/** For example `'x' (float32 [-1, 4])`. */
function inputsOf(manifest: Manifest): string {
  const inputs = Object.entries(signatureOf(manifest)?.inputs ?? {});
  const named = inputs.slice(0, MOST_NAMED).map(([name, { dtype, shape }]) => {
    return `'${name}' (${dtype} ${shape ? `[${shape.join(', ')}]` : 'of any rank'})`;
  });
  const more = inputs.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more inputs` : ''}, which may come in several formats`;
}
