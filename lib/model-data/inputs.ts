/** Everything that decides what an archive will hold, without building it. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PostprocessInput, PreprocessInput } from '@sagemaker-tfs/manifest';
import { HANDLER_MODULE } from '@sagemaker-tfs/manifest/handler-module';
import { versionOf } from '@sagemaker-tfs/manifest/version';
import { packageVersion } from 'sagemaker-tfs/files';
import { FileCache } from '../hashing/file-cache.ts';
import { type InputFile, moduleFiles } from '../hashing/module-files.ts';
import { invalidProp, type Where } from '../validation.ts';

/** A request that the model must answer when it is packaged. */
export interface ModelSample {
  /** File with the request's body. */
  readonly file: string;
  /**
   * Media type of the body.
   * @default - by the ending of the file's name
   */
  readonly contentType?: string;
  /**
   * Media type of the answer.
   * @default - the runtime's
   */
  readonly accept?: string;
  /**
   * Custom attributes of the request.
   * @default - none
   */
  readonly customAttributes?: string;
}

/** What goes into an archive. */
export interface ModelSources {
  /** A SavedModel, or any directory above numbered versions of one. */
  readonly model: string;
  /**
   * TypeScript handler, bundled with everything that it imports.
   * @default - `code/inference.ts` in `model`; if there is none, requests in TensorFlow Serving's own formats
   */
  readonly handler?: string;
  /**
   * How images become the model's input.
   * @default - none
   */
  readonly preprocess?: PreprocessInput;
  /**
   * How outputs become the answer.
   * @default - none
   */
  readonly postprocess?: PostprocessInput;
  /**
   * Requests that the model must answer: paths, or paths with what is sent with them. Packaging tries them with the TensorFlow library,
   * fetched where it is not here, and fails with the model's own message.
   * @default - made-up inputs
   */
  readonly samples?: readonly (string | ModelSample)[];
}

/**
 * SHA-256 (hex) over the model's files, the handler with all it imports, the declarations and the
 * packager's version. Paths enter relative to the model and the handler: the same sources give the same
 * hash on every machine and in every checkout.
 * @throws naming the prop where a source is missing or the handler cannot be bundled
 */
export function hashSources(where: Where, sources: ModelSources): string {
  const cache = new FileCache();
  const hash = createHash('sha256');
  const add = (...fields: string[]) => hash.update(`${JSON.stringify(fields)}\n`);
  add('packager', 'sagemaker-tfs', packageVersion());
  add('declaration', JSON.stringify([sources.preprocess ?? null, sources.postprocess ?? null]));
  for (const { path, file } of modelFiles(where, sources.model)) {
    add('model', path, cache.sha256(file));
  }
  for (const { path, file } of handlerFiles(where, sources, cache)) {
    add('handler', path, cache.sha256(file));
  }
  for (const file of labelFiles(sources)) add('labels', cache.sha256(file));
  cache.save();
  return hash.digest('hex');
}

function modelFiles(where: Where, directory: string): InputFile[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    invalidProp(
      where,
      'model',
      `${resolve(directory)} is not a directory`,
      'Give the directory of a SavedModel: it holds saved_model.pb, or numbered versions of it',
    );
  }
  const files = filesBelow(directory, '');
  const graphs = files.filter(({ path }) => /(^|\/)saved_model\.pb$/.test(path));
  if (graphs.length === 0) {
    invalidProp(
      where,
      'model',
      `${resolve(directory)} holds no saved_model.pb`,
      'Export the model as a SavedModel: model.export(DIR) in Keras, tf.saved_model.save otherwise',
    );
  }
  requireOneUnversioned(
    where,
    directory,
    graphs.map(({ path }) => dirname(path)),
  );
  return files;
}

/** Several models side by side, none of them in a version directory, are no versions of one. */
function requireOneUnversioned(where: Where, directory: string, models: readonly string[]): void {
  if (models.length < 2 || models.some((path) => versionOf(basename(path)) !== undefined)) return;
  const [first = ''] = models;
  invalidProp(
    where,
    'model',
    `${resolve(directory)} holds ${models.length} models: ${models.join(', ')}`,
    `Give the directory of one, such as ${join(directory, first)}, and each its own entry in 'models' or its own construct`,
  );
}

function filesBelow(root: string, prefix: string): InputFile[] {
  const entries = readdirSync(join(root, prefix)).sort();
  return entries.flatMap((name) => {
    const path = `${prefix}${name}`;
    const file = join(root, path);
    return statSync(file).isDirectory() ? filesBelow(root, `${path}/`) : [{ path, file }];
  });
}

/** The handler given, or the one that the packager finds beside the model. */
function handlerFiles(
  where: Where,
  { handler, model }: ModelSources,
  cache: FileCache,
): InputFile[] {
  const beside = join(model, 'code', 'inference.ts');
  const module = handler ?? (existsSync(beside) ? beside : undefined);
  return module ? moduleFiles(where, 'handler', module, [HANDLER_MODULE], cache) : [];
}

function labelFiles({ postprocess }: ModelSources): string[] {
  return [postprocess?.topK?.labels, postprocess?.boxes?.labels].filter(
    (file) => file !== undefined,
  );
}
