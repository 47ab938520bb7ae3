/**
 * `sagemaker-tfs/files`: where the parts of this package lie that other programs start or copy. Light, because
 * every synthesis of the constructs loads it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package, from its sources in `src/` and from its bundles in `dist/`. */
const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folders with programs of their own: inside the package, or beside it in the repository. */
export type Room = 'container' | 'local-model-server';

/** Directory of one of the package's programs. */
export function roomDirectory(room: Room): string {
  const inside = join(PACKAGE, room);
  return existsSync(inside) ? inside : join(PACKAGE, '..', room);
}

/** The command `sagemaker-tfs`, to be run with Node. */
export function commandFile(): string {
  return join(PACKAGE, 'bin', 'sagemaker-tfs.js');
}

/** Build context of the serving image: `Dockerfile`, `image/` and the bundled runtime in `dist/`. */
export function containerDirectory(): string {
  return roomDirectory('container');
}

/** A tiny SavedModel, `x / 2 + 3`, for projects without a model yet. */
export function exampleModel(): string {
  const inside = join(PACKAGE, 'example-model');
  if (existsSync(inside)) return inside;
  return join(PACKAGE, '..', 'test', 'fixtures', 'models', 'half_plus_two', '2');
}

/** Version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
