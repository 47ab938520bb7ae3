/** Decides what goes into an archive: models, versions, handler, manifest, each file with its digest. */

import { createHash } from 'node:crypto';
import { WARMUP_PATH } from '@sagemaker-tfs/libtensorflow/warmup-file';
import {
  checkManifestSize,
  MANIFEST_PATH,
  type Manifest,
  ManifestError,
  type Postprocess,
  type Preprocess,
} from '@sagemaker-tfs/manifest';
import type { Signature, SignatureMap, TensorSpec } from '@sagemaker-tfs/tensors';
import { enumName } from '@sagemaker-tfs/tensors';
import { PackagingError } from '../errors.ts';
import {
  digestFiles,
  memoryFile,
  type OnBytes,
  type PlannedFile,
  type SourceFile,
} from '../files/archive-files.ts';
import { walk } from '../files/walk.ts';
import { writingSignatures } from '../saved-model/run-traits.ts';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import type { ModelSource } from '../source/discover.ts';
import { PACKAGER } from '../version.ts';
import { type WarmupOption, warmupFile } from '../warmup/warmup.ts';

/** Everything that an archive will hold. */
export interface Plan {
  /** Every file with the manifest, sorted by path. */
  readonly files: readonly PlannedFile[];
  readonly manifest: Manifest;
}

/** What a plan is made from. */
interface PlanInput {
  /** At least one; the first is the default. */
  readonly models: readonly ModelSource[];
  /** Files of `code/`, the bundled handler included. */
  readonly code: readonly SourceFile[];
  /** Path of the bundled handler inside the archive. */
  readonly handler?: string | undefined;
  readonly preprocess?: Preprocess | undefined;
  readonly postprocess?: Postprocess | undefined;
  readonly warmup?: WarmupOption | undefined;
}

/** The default signatures to check declarations against: those of the first model's newest version. */
export function newestSignatures(model: ModelSource): SignatureMap {
  const newest = model.versions.at(-1);
  if (!newest) {
    throw new PackagingError(
      'NOT_A_SAVED_MODEL',
      `the model ${model.name} has no version. Add a version directory such as 1/.`,
    );
  }
  return servingGraph(readSavedModel(newest.directory)).signatures;
}

/**
 * Reads every file once. One model lies at the archive's root (`<version>/...`), several lie below their
 * names (`<name>/<version>/...`).
 * @throws PackagingError
 */
export async function makePlan(
  input: PlanInput,
  options: { onBytes: OnBytes; onTotal: (bytes: number) => void; signal?: AbortSignal | undefined },
): Promise<Plan> {
  const models = await modelFiles(input);
  const sources = [...models, ...input.code].sort(byPath);
  options.onTotal(sources.reduce((sum, { size }) => sum + size, 0));
  const files = await digestFiles(sources, options.onBytes, options.signal);
  const manifest = makeManifest(input, files);
  const all = [...files, memoryFile(MANIFEST_PATH, manifestBytes(manifest))].sort(byPath);
  return { files: all, manifest };
}

/** @throws PackagingError BAD_OPTION for a manifest that the runtime would refuse */
function manifestBytes(manifest: Manifest): Buffer {
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`, 'utf8');
  try {
    checkManifestSize(bytes.byteLength);
  } catch (cause) {
    if (!(cause instanceof ManifestError)) throw cause;
    throw new PackagingError('BAD_OPTION', cause.message, { cause });
  }
  return bytes;
}

async function modelFiles({ models, warmup, preprocess }: PlanInput): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const { name, versions } of models) {
    for (const { version, directory } of versions) {
      const prefix = models.length === 1 ? version : `${name}/${version}`;
      for (const { path, file, size } of walk(directory)) {
        if (warmup && path === WARMUP_PATH) continue;
        files.push({ path: `${prefix}/${path}`, content: { file }, size });
      }
      if (!warmup) continue;
      const { signatures } = servingGraph(readSavedModel(directory));
      const writing = writingSignatures(directory, signatures);
      files.push(await warmupFile(warmup, name, prefix, { signatures, preprocess, writing }));
    }
  }
  return files;
}

function makeManifest(input: PlanInput, files: readonly PlannedFile[]): Manifest {
  return {
    manifestVersion: 1,
    packager: PACKAGER,
    fingerprint: fingerprint(files, input),
    files: Object.fromEntries(
      files.map(({ path, sha256, size }) => [path, { sha256, bytes: size }]),
    ),
    models: input.models.map(manifestModel),
    ...(input.handler !== undefined && { handler: input.handler }),
    ...(input.preprocess && { preprocess: input.preprocess }),
    ...(input.postprocess && { postprocess: input.postprocess }),
  };
}

function manifestModel(model: ModelSource): Manifest['models'][number] {
  const signatures = newestSignatures(model);
  return {
    name: model.name,
    versions: model.versions.map(({ version }) => version),
    signatures: mapValues(signatures, manifestSignature),
  };
}

/** SHA-256 over every file's path and digest, the default of several models, and the declarations: all that decides an answer. */
function fingerprint(
  files: readonly PlannedFile[],
  { models, preprocess, postprocess }: PlanInput,
): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(`${path}\0${sha256}\n`);
  if (models.length > 1) hash.update(`default\0${models[0]?.name}\n`);
  if (preprocess || postprocess) hash.update(JSON.stringify({ preprocess, postprocess }));
  return hash.digest('hex');
}

function manifestSignature({ methodName, inputs, outputs }: Signature) {
  return {
    methodName,
    inputs: mapValues(inputs, manifestSpec),
    outputs: mapValues(outputs, manifestSpec),
  };
}

function manifestSpec({ dtype, dtypeEnum, shape }: TensorSpec) {
  return { dtype: dtype ?? enumName(dtypeEnum), shape: shape ? [...shape] : null };
}

/** The same keys, sorted, with other values. */
function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U) {
  return Object.fromEntries(
    Object.entries(record)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, change(value)]),
  );
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
