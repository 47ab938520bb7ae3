/** Names of classes, from the text files that a package declares. */
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { readRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { checkLabelsSize, ManifestError, parseLabels } from '@sagemaker-tfs/manifest/labels';

/** Labels by what they are for; the label of class `i` is at index `i`. */
export interface Labels {
  readonly topK?: readonly string[];
  readonly boxes?: readonly string[];
}

/**
 * Reads the declared labels files: UTF-8, a label a line, the first line for class 0.
 * @param codeFolder the archive's `code/`
 * @throws Error naming the file, where it cannot be read or lies elsewhere; ManifestError where it is too large
 */
export async function loadLabels(postprocess: Postprocess, codeFolder: string): Promise<Labels> {
  const { topK, boxes } = postprocess;
  return {
    ...(topK?.labels && { topK: await readLabels(codeFolder, topK.labels) }),
    ...(boxes?.labels && { boxes: await readLabels(codeFolder, boxes.labels) }),
  };
}

async function readLabels(folder: string, name: string): Promise<readonly string[]> {
  const path = join(folder, name);
  try {
    const file = await realpath(path);
    // A link must not lead to the files of others either: callers see the labels.
    if (!file.startsWith(`${await realpath(folder)}${sep}`))
      throw new Error('it lies outside code/');
    const bytes = await readRegularFile(file, (size) => checkLabelsSize(size, name));
    return parseLabels(bytes, name);
  } catch (cause) {
    if (cause instanceof ManifestError) throw cause;
    throw new Error(`the labels file ${path} cannot be read. Package it into code/.`, { cause });
  }
}

/** The label of a class; its number where the file has none. */
export function labelOf(labels: readonly string[], index: number): string {
  return labels[index] || String(index);
}
