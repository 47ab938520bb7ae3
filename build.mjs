/**
 * Bundles from source the programs (the serving runtime, the local model server and the command line) and the
 * library of constructs; with arguments, only the rooms that they name, to `<room>/dist` or, as `<room>=<folder>`,
 * to another folder. With `--stale`, only what is older than its sources: a program that runs meanwhile keeps its files.
 */
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { isFresh } from './bin/fresh-bundles.js';
import { bundleConstructs, bundleProgram, PROGRAMS } from './bundling.mjs';

async function bundle(target) {
  const [room, folder = `${room}/dist`] = target.split('=');
  // Written beside and then put in place: a program that starts meanwhile finds a whole bundle.
  const outdir = `${folder}.${process.pid}`;
  await mkdir(outdir, { recursive: true });
  const { mtime: began } = await stat(outdir);
  try {
    await (room === 'lib' ? bundleConstructs(outdir) : bundleProgram(room, outdir));
    // A source that is edited meanwhile may be in it as it was before.
    await utimes(`${outdir}/inputs.json`, began, began);
    await rm(folder, { recursive: true, force: true });
    await rename(outdir, folder);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const named = process.argv.slice(2).filter((argument) => argument !== '--stale');
const wanted = named.length > 0 ? named : [...Object.keys(PROGRAMS), 'lib'];
const isWanted = (room) => !process.argv.includes('--stale') || !isFresh(room);
await Promise.all(wanted.filter(isWanted).map(bundle)).catch((error) => {
  // esbuild prints what it finds itself.
  if (error.errors === undefined) console.error(error.message);
  process.exitCode = 1;
});
