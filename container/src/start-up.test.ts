/** What is loaded before the runtime listens: every module there makes every cold start longer. */
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import image from '../image/package.json' with { type: 'json' };

const ROOT = join(__dirname, '..', '..');

/** Packages that only requests, manifests or a metrics port need. */
const LATER = [
  'zod',
  '@bufbuild/protobuf',
  'prom-client',
  'sharp',
  '@julusian/jpeg-turbo',
  '@node-rs/crc32',
  'csv-parse',
];

async function bundle(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['container/src/main.ts'],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: Object.keys(image.dependencies),
    write: false,
    metafile: true,
  });
  return metafile;
}

/** The outputs that one imports statically, and itself. */
function withImports({ outputs }: Metafile, start: string): string[] {
  const loaded = new Set([start]);
  for (const path of loaded) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import') loaded.add(imported);
    }
  }
  return [...loaded];
}

test('before the runtime listens it loads nothing that only requests, manifests or metrics need', async () => {
  const metafile = await bundle();
  const outputOf = (source: string) =>
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source)?.[0] ?? '';
  const packagesOf = (...sources: string[]) => {
    const loaded = sources
      .flatMap((source) => withImports(metafile, outputOf(source)))
      .flatMap((path) => [path, ...Object.keys(metafile.outputs[path]?.inputs ?? {})]);
    return LATER.filter((name) =>
      loaded.some((path) => path === name || path.includes(`node_modules/${name}/`)),
    );
  };
  expect(packagesOf('container/src/main.ts', 'container/src/runtime.ts')).toEqual([]);
  // What a handler imports is loaded with the handler.
  expect(packagesOf('container/src/handler/provide-import.ts')).toEqual(['@bufbuild/protobuf']);
  expect(packagesOf('container/src/http/invocations.ts')).toEqual(
    expect.arrayContaining(['sharp', '@julusian/jpeg-turbo', '@node-rs/crc32', 'csv-parse']),
  );
});
