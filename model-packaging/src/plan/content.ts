/** From the caller's options to a plan: the steps that every kind of output shares. */
import type { Postprocess, PostprocessInput, PreprocessInput } from '@sagemaker-tfs/manifest';
import { PackagingError } from '../errors.ts';
import type { SourceFile } from '../files/archive-files.ts';
import { bundleHandler, HANDLER_FILE } from '../handler/bundle.ts';
import { DECLARED_BODIES_PATH, declaredBodies } from '../handler/declared-bodies.ts';
import { findHandler } from '../handler/find-handler.ts';
import type { ModelSource } from '../source/discover.ts';
import { type ModelOption, modelsIn, namedModel, requireDistinct } from '../source/model-source.ts';
import type { OpenOptions } from '../source/open-options.ts';
import { openSource } from '../source/open-source.ts';
import { type Workspace, withWorkspace } from '../source/workspace.ts';
import { wrapImageInput } from '../source/wrap-image-input.ts';
import type { WarmupOption } from '../warmup/warmup.ts';
import { checkModel } from './check-model.ts';
import { checkDeclarations } from './declarations.ts';
import { makePlan, newestSignatures, type Plan } from './plan.ts';

/** How far the work is. */
export interface PackagingProgress {
  readonly step: 'read' | 'pack';
  /** Bytes. */
  readonly done: number;
  /** Bytes. */
  readonly total: number;
}

/** What goes into an archive or a layout. */
export interface ContentOptions extends OpenOptions {
  /**
   * One or several models, instead of `models`: a directory, a `.tar.gz`, `.tar` or `.zip`, a `.keras` or
   * `.h5` file, or an `s3://` URI of any of these.
   */
  readonly source?: string;
  /** Models by name; the first is the default. */
  readonly models?: readonly ModelOption[];
  /** Path of the TypeScript handler. Default: `code/inference.ts` in the source, if there is one. */
  readonly handler?: string;
  /**
   * Wraps the models so that encoded pictures are what they take: a DT_STRING input `image_bytes`, with
   * decoding, resize and scaling inside the graph. Needs Python TensorFlow. Instead of `preprocess`.
   */
  readonly imageInput?: PreprocessInput;
  /** How image bytes become the input tensor in the runtime. */
  readonly preprocess?: PreprocessInput;
  /** What of the outputs the client gets. Paths of label files are relative to the working directory. */
  readonly postprocess?: PostprocessInput;
  /**
   * Requests that the model server runs before it is ready: `true` makes one up for each signature, paths
   * name samples (TensorFlow Serving's JSON, `.npy`, `.npz`, pictures). Default: what the source has.
   */
  readonly warmup?: WarmupOption;
  readonly onProgress?: (progress: PackagingProgress) => void;
}

/** Makes the plan and passes it to `use`; removes unpacked sources afterwards. */
export async function planContent<T>(
  options: ContentOptions,
  use: (plan: Plan) => Promise<T>,
): Promise<T> {
  return withWorkspace(async (workspace) => {
    const opened = await openModels(options, workspace);
    for (const { versions } of opened.models) {
      for (const { directory } of versions) checkModel(directory);
    }
    const [first] = opened.models;
    if (!first) throw new PackagingError('BAD_OPTION', 'no model given. Name one.');
    const { preprocess, postprocess, labelFiles } = checkDeclarations(
      options,
      newestSignatures(first),
    );
    const models = await wrapped(opened.models, options, postprocess, workspace);
    const code = [...(await handlerFiles(opened.handler)), ...labelFiles];
    const handler = opened.handler === undefined ? undefined : `code/${HANDLER_FILE}`;
    const { warmup } = options;
    const input = { models, code, handler, preprocess, postprocess, warmup };
    return use(await makePlan(input, { ...readProgress(options), signal: options.signal }));
  });
}

/** Opens every source and finds the handler that comes with them. */
async function openModels(
  options: ContentOptions,
  workspace: Workspace,
): Promise<{ models: readonly ModelSource[]; handler: string | undefined }> {
  const { source, models: named } = options;
  if ((source === undefined) === (named === undefined)) {
    throw new PackagingError(
      'BAD_OPTION',
      'a source and a list of named models are given, or neither. Give one of them.',
    );
  }
  if (source !== undefined) {
    const opened = await openSource(source, workspace, options);
    const models = modelsIn(opened);
    return { models, handler: findHandler(options.handler, opened.directory, models) };
  }
  requireDistinct(named ?? []);
  const models: ModelSource[] = [];
  let handler: string | undefined;
  for (const option of named ?? []) {
    const opened = await openSource(option.source, workspace, options);
    const model = namedModel(option, opened);
    models.push(model);
    handler ??= findHandler(options.handler, opened.directory, [model]);
  }
  return { models, handler };
}

async function wrapped(
  models: readonly ModelSource[],
  options: ContentOptions,
  postprocess: Postprocess | undefined,
  workspace: Workspace,
): Promise<readonly ModelSource[]> {
  const { imageInput, preprocess } = options;
  if (!imageInput) return models;
  if (preprocess) {
    throw new PackagingError(
      'BAD_OPTION',
      'an image input prepares pictures inside the graph, and preprocess in the runtime. Give one of them.',
    );
  }
  return wrapImageInput(models, { imageInput, postprocess }, workspace, options);
}

function readProgress({ onProgress }: ContentOptions) {
  let done = 0;
  let total = 0;
  return {
    onTotal: (bytes: number) => {
      total = bytes;
    },
    onBytes: (bytes: number) => {
      done += bytes;
      onProgress?.({ step: 'read', done, total });
    },
  };
}

async function handlerFiles(handler: string | undefined): Promise<SourceFile[]> {
  if (handler === undefined) return [];
  const { code, sourceMap, exports } = await bundleHandler(handler);
  const declared = await declaredBodies(handler, exports);
  const file = (path: string, bytes: Uint8Array) => ({
    path,
    content: { bytes },
    size: bytes.byteLength,
  });
  return [
    file(`code/${HANDLER_FILE}`, code),
    file(`code/${HANDLER_FILE}.map`, sourceMap),
    ...(declared ? [file(DECLARED_BODIES_PATH, Buffer.from(`${JSON.stringify(declared)}\n`))] : []),
  ];
}
