/** Builds the playground: one HTML file with everything inside. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';
import { licenceComment } from '../third-party.mjs';

/**
 * Parts of the client that the page never uses: it reads npz and JSON, and sends once. The reader of TFRecord would
 * double its size.
 */
function leaveOut({ onResolve }) {
  const without = (filter, path) => onResolve({ filter }, () => ({ path: resolve(path) }));
  without(/\/tfrecord-tensors\.ts$/, 'playground/src/answer/no-tfrecord.ts');
  without(/^p-retry$/, 'playground/src/request/no-retries.ts');
}

/** Bytes of the playground's page, at most. */
const PAGE_BYTES = 80_000;

/**
 * The page that `serve` shows, everything inside: `playground.html`. Program and style lie deflated in it. Its first lines
 * have the hashes by which the browser runs program, loader and style, and nothing else; its last ones the licences of
 * the packages in it.
 * @returns a metafile with its sources
 * @throws Error where the page is too large
 */
export async function bundlePlayground(outdir) {
  const template = 'playground/index.html';
  const parts = await build({
    entryPoints: {
      program: 'playground/src/main.tsx',
      loader: 'playground/src/loader.ts',
      style: 'playground/src/style.css',
    },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: 'playground',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    // For endpoints only; the page calls its own server.
    external: ['@aws-sdk/client-sagemaker-runtime'],
    plugins: [{ name: 'leave-out', setup: leaveOut }],
  });
  const text = (name) => parts.outputFiles.find(({ path }) => path.endsWith(name)).text.trim();
  const [program, loader, style] = ['program.js', 'loader.js', 'style.css'].map(text);
  const hash = (source) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
  const packed = (source) => deflateRawSync(source, { level: 9 }).toString('base64');
  const policy = `script-src ${hash(loader)} ${hash(program)}; style-src ${hash(style)}`;
  const html = readFileSync(template, 'utf8')
    .replace('<head>', () => `<head>\n<!-- csp: ${policy} -->`)
    .replace('/*STYLE*/', () => packed(style))
    .replace('/*PROGRAM*/', () => packed(program))
    .replace('/*LOADER*/', () => loader)
    .replace('</html>', () => `${licenceComment(parts.metafile)}\n</html>`);
  if (Buffer.byteLength(html) > PAGE_BYTES) {
    throw new Error(`the playground has ${Buffer.byteLength(html)} bytes, more than ${PAGE_BYTES}`);
  }
  await writeFile(`${outdir}/playground.html`, html);
  return { ...parts.metafile, inputs: { ...parts.metafile.inputs, [template]: { imports: [] } } };
}
