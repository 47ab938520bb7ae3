/** Adds an input for encoded pictures to models, with decoding, resize and scaling inside the graph. */
import {
  ManifestError,
  type PixelsInput,
  type Postprocess,
  type PreprocessInput,
  parsePreprocess,
  resolvePreprocess,
} from '@sagemaker-tfs/manifest';
import { DEFAULT_SIGNATURE, type Signature, type SignatureMap } from '@sagemaker-tfs/tensors';
import { PackagingError } from '../errors.ts';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import type { ModelSource } from './discover.ts';
import type { OpenOptions } from './open-options.ts';
import { runPython } from './run-python.ts';
import type { Workspace } from './workspace.ts';

/** The signature to wrap: the default one, or the only one. @throws PackagingError BAD_DECLARATION */
export function defaultSignature(signatures: SignatureMap, what: string): Signature {
  const all = Object.values(signatures);
  const signature = signatures[DEFAULT_SIGNATURE] ?? (all.length === 1 ? all[0] : undefined);
  if (signature) return signature;
  throw new PackagingError(
    'BAD_DECLARATION',
    `${what} is for the signature '${DEFAULT_SIGNATURE}', which the model does not have (it has ${all.map(({ key }) => key).join(', ') || 'none'}). Export it with that signature.`,
  );
}

/** What the graph does to pictures, and which of its outputs are boxes in them. */
interface ImageInputDeclarations {
  readonly imageInput: PreprocessInput;
  readonly postprocess: Postprocess | undefined;
}

/**
 * The same models with a DT_STRING input `image_bytes` [N] as their default signature, written to the
 * workspace by the user's Python TensorFlow. Boxes become those of the picture in the graph, which alone knows its size.
 * @throws PackagingError BAD_DECLARATION, PYTHON_TENSORFLOW, CONVERSION_FAILED
 */
export async function wrapImageInput(
  models: readonly ModelSource[],
  { imageInput, postprocess }: ImageInputDeclarations,
  workspace: Workspace,
  options: OpenOptions,
): Promise<ModelSource[]> {
  const boxes = postprocess?.boxes?.boxes;
  const wrapped: ModelSource[] = [];
  for (const { name, versions } of models) {
    const wrappedVersions = [];
    for (const { version, directory } of versions) {
      const { signatures } = servingGraph(readSavedModel(directory));
      const signature = defaultSignature(signatures, 'the image input');
      const output = await workspace.folder(version);
      await runPython('wrap_image_input.py', {
        purpose: `giving ${directory} an image input`,
        input: directory,
        output,
        settings: { signature: signature.key, boxes, ...resolveSettings(imageInput, signature) },
        signal: options.signal,
        onStep: options.onStep,
      });
      wrappedVersions.push({ version, directory: output });
    }
    wrapped.push({ name, versions: wrappedVersions });
  }
  return wrapped;
}

/** @throws PackagingError BAD_DECLARATION naming the field */
function resolveSettings(declaration: PreprocessInput, signature: Signature): PixelsInput {
  const resolved = resolve(declaration, signature);
  if (resolved.bytes) {
    throw new PackagingError(
      'BAD_DECLARATION',
      `the model's input '${resolved.input}' takes encoded pictures already. Leave the image input out.`,
    );
  }
  if (!resolved.batchDimension) {
    throw new PackagingError(
      'BAD_DECLARATION',
      `the model's input '${resolved.input}' takes one picture without a dimension for the batch. Leave the image input out, or export the model with [N,H,W,C].`,
    );
  }
  if (resolved.height !== undefined && resolved.width !== undefined) return resolved;
  throw new PackagingError(
    'BAD_DECLARATION',
    `the model's input '${resolved.input}' takes pictures of any size, but all pictures of a batch must have the same size. Declare size: [height, width].`,
  );
}

function resolve(declaration: PreprocessInput, signature: Signature) {
  try {
    return resolvePreprocess(parsePreprocess(declaration), signature);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new PackagingError('BAD_DECLARATION', error.message, { cause: error });
  }
}
