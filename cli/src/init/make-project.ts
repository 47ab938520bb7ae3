/** Writes a project of the user's own around a model. */
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inspectModel, sampleOfModel } from '@sagemaker-tfs/model-packaging';
import { CommandError, usageError } from '../errors.ts';
import { exampleModel } from '../files.ts';
import { goldenAnswer } from './golden-answer.ts';
import { filesOf, type Template, type TemplateContext } from './templates.ts';

/** What to make. */
export interface ProjectOptions {
  readonly directory: string;
  readonly template: Template;
  /** Directory of a SavedModel. Default: a tiny one that computes `x / 2 + 3`. */
  readonly model?: string;
  readonly signal: AbortSignal;
}

/** What was made. */
export interface MadeProject {
  readonly directory: string;
  readonly files: readonly string[];
}

/**
 * Copies the model, writes the files, and asks the model for the golden answer to a made-up sample.
 * @throws CommandError OUTPUT_EXISTS where the directory holds something; PackagingError where there is no model
 */
export async function makeProject(options: ProjectOptions): Promise<MadeProject> {
  const directory = resolve(options.directory);
  await requireEmpty(directory);
  const source = options.model === undefined ? exampleModel() : resolve(options.model);
  await inspectModel(source);
  const sample = await sampleOfModel(source);
  if (!sample) {
    throw new CommandError(
      'NO_SAMPLE',
      `no request can be made up for ${source}. sagemaker-tfs inspect shows what the model takes.`,
    );
  }
  const path = `samples/sample.${ENDINGS[sample.contentType] ?? 'bin'}`;
  const context: TemplateContext = {
    template: options.template,
    name: nameOf(directory),
    sample: path,
    contentType: sample.contentType,
  };
  await copyModel(source, join(directory, 'model'));
  const files = { ...filesOf(context), [path]: sample.body };
  for (const [name, text] of Object.entries(files)) await write(join(directory, name), text);
  const golden = await goldenAnswer(directory, sample, options.signal);
  await write(join(directory, 'goldens/sample.json'), `${JSON.stringify(golden, null, 2)}\n`);
  return { directory, files: [...Object.keys(files), 'goldens/sample.json', 'model/'].sort() };
}

/** Of made-up samples, by media type. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/x-image': 'png',
  'application/x-npz': 'npz',
  'application/x-tfrecord': 'tfrecord',
};

/** @throws CommandError OUTPUT_EXISTS; a repository that was only begun counts as empty */
async function requireEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const found = names.filter((name) => name !== '.git');
  if (found.length === 0) return;
  throw new CommandError(
    'OUTPUT_EXISTS',
    `${directory} holds ${found.slice(0, 3).join(', ')}. Give an empty or a new directory.`,
  );
}

/** Below a version, as TensorFlow Serving wants it. */
async function copyModel(source: string, target: string): Promise<void> {
  const names = await readdir(source).catch(() => {
    throw usageError(`--model ${source} is not a directory.`);
  });
  const isVersion = names.some((name) => name.startsWith('saved_model.pb'));
  await cp(source, isVersion ? join(target, '1') : target, { recursive: true });
}

async function write(file: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** A name that npm, SageMaker and CloudFormation all take. */
function nameOf(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return /^[a-z]/.test(name) ? name : `model${name && `-${name}`}`;
}
