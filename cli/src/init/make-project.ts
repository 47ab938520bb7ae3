/** Writes a project of the user's own around a model. */
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type ModelSource,
  type OpenOptions,
  type SampleRequest,
  sampleOfModel,
  withSource,
} from '@sagemaker-tfs/model-packaging';
import { jsonText } from '@sagemaker-tfs/tensors';
import { CommandError } from '../errors.ts';
import { exampleModel } from '../files.ts';
import { goldenAnswer } from './golden-answer.ts';
import { filesOf, GOLDEN, type Template, type TemplateContext } from './templates.ts';

/** What to make. */
interface ProjectOptions extends OpenOptions {
  readonly directory: string;
  readonly template: Template;
  /** A source of models, as `package` takes them. Default: a tiny one that computes `x / 2 + 3`. */
  readonly model?: string;
  readonly signal: AbortSignal;
}

/** What was made. */
interface MadeProject {
  readonly directory: string;
  readonly files: readonly string[];
}

/**
 * Copies the model, writes the files, and asks the model for the golden answer to a made-up sample. Where that fails or
 * is interrupted, what it made goes again: the same command can be given once more.
 * @throws CommandError OUTPUT_EXISTS if the directory holds something; PackagingError if there is no model
 */
export async function makeProject(options: ProjectOptions): Promise<MadeProject> {
  const directory = resolve(options.directory);
  await requireEmpty(directory);
  const above = await mkdir(directory, { recursive: true });
  try {
    return await fill(directory, options);
  } catch (error) {
    await removeMade(directory, above);
    throw error;
  }
}

/** @param above the first folder that this run made; undefined if the directory was there */
async function removeMade(directory: string, above: string | undefined): Promise<void> {
  const made = above ? [above] : (await ownNames(directory)).map((name) => join(directory, name));
  for (const path of made) await rm(path, { recursive: true, force: true });
}

async function fill(directory: string, options: ProjectOptions): Promise<MadeProject> {
  const { sample, path } = await copySource(options, directory);
  const context: TemplateContext = {
    template: options.template,
    name: nameOf(directory),
    sample: path,
    contentType: sample.contentType,
  };
  const files = { ...filesOf(context), [path]: sample.body };
  for (const [name, text] of Object.entries(files)) await write(join(directory, name), text);
  options.onStep?.('asking the model for the answer to its sample');
  const golden = await goldenAnswer(directory, sample, options.signal);
  await write(join(directory, GOLDEN), `${jsonText(golden, 2)}\n`);
  return { directory, files: [...Object.keys(files), GOLDEN, 'model/'].sort() };
}

/** Copies the models to `model/`, and makes up a request. @throws CommandError NO_SAMPLE */
function copySource(
  { model, signal, onStep }: ProjectOptions,
  directory: string,
): Promise<{ sample: SampleRequest; path: string }> {
  const source = model ?? exampleModel();
  return withSource(source, { signal, onStep }, async (opened) => {
    const sample = await sampleOfModel(opened.directory);
    if (!sample) {
      throw new CommandError(
        'NO_SAMPLE',
        `no request can be made up for ${source}. sagemaker-tfs inspect shows what the model takes.`,
      );
    }
    await copyModels(opened.models, join(directory, 'model'));
    return { sample, path: `samples/sample.${ENDINGS[sample.contentType] ?? 'bin'}` };
  });
}

/** Of made-up samples, by media type. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/x-image': 'png',
  'application/x-npz': 'npz',
  'application/x-tfrecord': 'tfrecord',
};

/** Names in a message, at most. */
const MAX_NAMED = 3;

/** A repository that was only begun counts as empty. */
async function ownNames(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name !== '.git');
}

/** @throws CommandError OUTPUT_EXISTS */
async function requireEmpty(directory: string): Promise<void> {
  const found = await ownNames(directory);
  if (found.length === 0) return;
  // Hidden files last: the others are those that people know.
  const isHidden = (name: string) => Number(name.startsWith('.'));
  const known = found.sort((a, b) => isHidden(a) - isHidden(b) || (a < b ? -1 : 1));
  const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
  throw new CommandError(
    'OUTPUT_EXISTS',
    `${directory} holds ${known.slice(0, MAX_NAMED).join(', ')}${more}. Give an empty or a new directory.`,
  );
}

/** Below versions, as TensorFlow Serving wants them. What lies beside them in the source is not the model's. */
async function copyModels(models: readonly ModelSource[], target: string): Promise<void> {
  for (const { name, versions } of models) {
    const folder = models.length === 1 ? target : join(target, name);
    for (const { version, directory } of versions) {
      // A link would lead nowhere from the project.
      await cp(directory, join(folder, version), { recursive: true, dereference: true });
    }
  }
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
