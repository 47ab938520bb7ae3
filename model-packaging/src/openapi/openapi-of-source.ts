/** The OpenAPI document of whatever names a model. */
import { readManifest } from '../archive/lay-out.ts';
import { readDeclaredBodies } from '../handler/read-declared-bodies.ts';
import { inspectVersion } from '../inspect/inspect.ts';
import type { OpenOptions } from '../source/open-options.ts';
import { withSource } from '../source/open-source.ts';
import { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './openapi.ts';

/** Describes the models of a source; of an archive, what it declares as well. @throws PackagingError */
export function openApiOfSource(
  source: string,
  { url, title, ...options }: OpenOptions & Pick<OpenApiOptions, 'url' | 'title'> = {},
): Promise<OpenApiDocument> {
  return withSource(source, options, async ({ directory, models }) => {
    const reports = models.map(({ name, versions }) => ({
      name,
      versions: versions.slice(-1).map(inspectVersion),
    }));
    const manifest = await readManifest(directory);
    const declared = manifest?.handler === undefined ? undefined : readDeclaredBodies(directory);
    return openApiDocument({ models: reports }, { manifest, declared, title, url });
  });
}
