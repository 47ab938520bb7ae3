/** Checks `preprocess` and `postprocess` against the model and brings their label files along. */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import {
  checkPostprocess,
  checkPreprocess,
  ManifestError,
  type Postprocess,
  type PostprocessInput,
  type Preprocess,
  type PreprocessInput,
  type Problem,
  parsePostprocess,
  parsePreprocess,
  throwProblems,
  topKOutput,
} from '@sagemaker-tfs/manifest';
import { checkLabelsSize, parseLabels } from '@sagemaker-tfs/manifest/labels';
import type { Signature, SignatureMap } from '@sagemaker-tfs/tensors';
import { doesNotExist, PackagingError } from '../errors.ts';
import type { SourceFile } from '../files/archive-files.ts';
import { inOwnErrors } from '../files/own-errors.ts';
import { defaultSignature } from '../source/wrap-image-input.ts';

/** Declarations as they go into the manifest. */
export interface Declarations {
  readonly preprocess: Preprocess | undefined;
  readonly postprocess: Postprocess | undefined;
  /** Label files, for `code/`. */
  readonly labelFiles: readonly SourceFile[];
}

/** @throws PackagingError BAD_DECLARATION naming the field, SOURCE_NOT_FOUND for a label file */
export function checkDeclarations(
  options: {
    readonly preprocess?: PreprocessInput | undefined;
    readonly postprocess?: PostprocessInput | undefined;
  },
  signatures: SignatureMap,
): Declarations {
  try {
    const preprocess = options.preprocess && parsePreprocess(options.preprocess);
    const parsed = options.postprocess && parsePostprocess(options.postprocess);
    const { postprocess, labelFiles } = withLabelFiles(parsed);
    if (preprocess || postprocess) {
      const signature = defaultSignature(signatures, 'a declaration of pre- or postprocessing');
      throwProblems([
        ...(preprocess ? checkPreprocess(preprocess, signature) : []),
        ...(postprocess ? checkPostprocess(postprocess, signature) : []),
        ...(parsed ? checkLabelCount(parsed, signature) : []),
      ]);
    }
    return { preprocess, postprocess, labelFiles };
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new PackagingError('BAD_DECLARATION', error.message, { cause: error });
  }
}

/** `topK.labels` has a label for each class, where the signature says how many there are. */
function checkLabelCount(postprocess: Postprocess, signature: Signature): Problem[] {
  const output = topKOutput(postprocess, signature);
  const classes = output === undefined ? undefined : signature.outputs[output]?.shape?.at(-1);
  const file = postprocess.topK?.labels;
  if (file === undefined || classes === undefined || classes < 0) return [];
  const count = readLabels(resolve(file)).length;
  if (count === classes) return [];
  const labels = count === 1 ? '1 label' : `${count} labels`;
  const message = `${file} has ${labels} for the ${classes} classes of output '${output}'. Write one a line, the first for class 0.`;
  return [{ field: 'postprocess.topK.labels', message }];
}

/** @throws ManifestError for a file that the runtime would refuse */
function readLabels(file: string): readonly string[] {
  const check = (bytes: number) => checkLabelsSize(bytes, file);
  return parseLabels(
    inOwnErrors(file, () => readRegularFileSync(file, check)),
    file,
  );
}

/** Moves label files into `code/` under their own names. */
function withLabelFiles(postprocess: Postprocess | undefined) {
  const labelFiles: SourceFile[] = [];
  const moved = (labels: string): string => {
    const file = resolve(labels);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) throw doesNotExist(`the label file ${labels}`);
    if (!stat.isFile()) {
      throw new PackagingError(
        'SOURCE_NOT_FOUND',
        `the label file ${labels} is not a file. Give a text of one label a line.`,
      );
    }
    readLabels(file);
    const name = basename(file);
    const path = `code/${name}`;
    const twin = labelFiles.find((other) => other.path === path);
    if (!twin) labelFiles.push({ path, content: { file }, size: stat.size });
    else if (!('file' in twin.content) || twin.content.file !== file) {
      throw new PackagingError('BAD_DECLARATION', `two label files are named ${name}. Rename one.`);
    }
    return name;
  };
  const relabel = <T extends { labels?: string | undefined }>(
    part: T | undefined,
  ): T | undefined => (part?.labels === undefined ? part : { ...part, labels: moved(part.labels) });
  if (!postprocess) return { postprocess, labelFiles };
  const topK = relabel(postprocess.topK);
  const boxes = relabel(postprocess.boxes);
  return {
    postprocess: { ...postprocess, ...(topK && { topK }), ...(boxes && { boxes }) },
    labelFiles,
  };
}
