/** From what the caller names to models and versions on disk. */
import { dirname } from 'node:path';
import { PackagingError } from '../errors.ts';
import { discoverModels, type ModelSource, type VersionSource } from './discover.ts';
import { nameEach } from './name-each.ts';
import type { OpenedSource } from './opened-source.ts';

/** A model as the caller names it. */
export interface ModelOption {
  /** Servable name, for requests and for the archive's layout. */
  readonly name: string;
  /** What {@link ContentOptions.source} takes, with one model in it. */
  readonly source: string;
  /** Only these versions, decimal digits. Default: all. */
  readonly versions?: readonly string[];
}

/** A name that TensorFlow Serving, URLs and file systems all take. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The name of a model whose directory has none that could be used, as SageMaker's own default. */
const DEFAULT_NAME = 'model';

/** The models of a source under their own names. @throws PackagingError */
export function modelsIn(opened: OpenedSource): ModelSource[] {
  const models = discoverModels(opened);
  const [only] = models;
  if (only && models.length === 1) {
    return [{ ...only, name: isName(only.name) ? only.name : DEFAULT_NAME }];
  }
  const unusable = models.find((model) => !isName(model.name));
  if (!unusable) return models;
  throw new PackagingError(
    'BAD_OPTION',
    `${nameFault(unusable.name)} ${nameEach(opened, models.map(directoryOf))}`,
  );
}

/** The one model of a source under the caller's name. @throws PackagingError */
export function namedModel(
  { name, source, versions }: ModelOption,
  opened: OpenedSource,
): ModelSource {
  requireName(name);
  const found = discoverModels(opened);
  const [model] = found;
  if (!model || found.length > 1) {
    const names = found.map((other) => other.name).join(', ');
    throw new PackagingError(
      'BAD_OPTION',
      `${source} holds several models (${names}), but '${name}' names one. ${nameEach(opened, found.map(directoryOf))}`,
    );
  }
  return { name, versions: versions ? pickVersions(model, versions, source) : model.versions };
}

/** @throws PackagingError BAD_OPTION if two models have one name */
export function requireDistinct(models: readonly { readonly name: string }[]): void {
  const twin = models.find(({ name }, i) => models.findIndex((m) => m.name === name) < i);
  if (!twin) return;
  throw new PackagingError('BAD_OPTION', `two models are named '${twin.name}'. Names must differ.`);
}

function isName(name: string): boolean {
  return NAME.test(name) && name !== 'code';
}

function requireName(name: string): void {
  if (isName(name)) return;
  throw new PackagingError('BAD_OPTION', nameFault(name));
}

function nameFault(name: string): string {
  return `'${name}' cannot name a model: use letters, digits, '.', '_' and '-', and not 'code', which holds the handler.`;
}

/** The directory above a model's versions. */
function directoryOf({ versions }: ModelSource): string {
  return dirname((versions[0] as VersionSource).directory);
}

function pickVersions(model: ModelSource, wanted: readonly string[], source: string) {
  const missing = wanted.find((w) => !model.versions.some(({ version }) => version === w));
  if (missing !== undefined || wanted.length === 0) {
    const have = model.versions.map(({ version }) => version).join(', ');
    throw new PackagingError(
      'BAD_OPTION',
      `${source} has no version ${missing ?? '(none given)'}. Choose from ${have}.`,
    );
  }
  return model.versions.filter(({ version }) => wanted.includes(version));
}
