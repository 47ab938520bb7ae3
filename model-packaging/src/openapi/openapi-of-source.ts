/** The OpenAPI document of whatever names a model. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import { checkManifestSize } from '@sagemaker-tfs/manifest';
import { readManifest } from '../archive/lay-out.ts';
import { PackagingError } from '../errors.ts';
import { inOwnErrors } from '../files/own-errors.ts';
import {
  DECLARED_BODIES_PATH,
  type DeclaredBodies,
  declaredBodiesSchema,
} from '../handler/declared-bodies.ts';
import { inspectVersion } from '../inspect/inspect.ts';
import type { OpenOptions } from '../source/open-options.ts';
import { withSource } from '../source/open-source.ts';
import { type OpenApiDocument, openApiDocument } from './openapi.ts';

/** Describes the models of a source; of an archive, what it declares as well. @throws PackagingError */
export function openApiOfSource(
  source: string,
  { url, ...options }: OpenOptions & { readonly url?: string } = {},
): Promise<OpenApiDocument> {
  return withSource(source, options, async ({ directory, models }) => {
    const reports = models.map(({ name, versions }) => ({
      name,
      versions: versions.slice(-1).map(inspectVersion),
    }));
    const manifest = await readManifest(directory);
    const declared = manifest?.handler === undefined ? undefined : declaredBodiesIn(directory);
    return openApiDocument({ models: reports }, { manifest, declared, url });
  });
}

/** @throws PackagingError CORRUPT_FILE */
function declaredBodiesIn(directory: string): DeclaredBodies | undefined {
  const path = join(directory, DECLARED_BODIES_PATH);
  if (!existsSync(path)) return undefined;
  const bytes = inOwnErrors(path, () => readRegularFileSync(path, checkManifestSize));
  try {
    return declaredBodiesSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new PackagingError(
      'CORRUPT_FILE',
      `${path} is not what packaging writes. Package the model again.`,
      { cause },
    );
  }
}
