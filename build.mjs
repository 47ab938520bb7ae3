/**
 * Bundles from source the programs (the serving runtime, the local model server and the command line) and the
 * library of constructs; with arguments, only the rooms that they name, to `<room>/dist` or, as `<room>=<folder>`,
 * to another folder.
 */
import { rename, rm } from 'node:fs/promises';
import { bundleConstructs, bundleProgram, PROGRAMS } from './bundling.mjs';

async function bundle(target) {
  const [room, folder = `${room}/dist`] = target.split('=');
  // Written beside and then put in place: a program that starts meanwhile finds a whole bundle.
  const outdir = `${folder}.${process.pid}`;
  try {
    await (room === 'lib' ? bundleConstructs(outdir) : bundleProgram(room, outdir));
    await rm(folder, { recursive: true, force: true });
    await rename(outdir, folder);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
await Promise.all(
  (wanted.length > 0 ? wanted : [...Object.keys(PROGRAMS), 'lib']).map(bundle),
).catch((error) => {
  // esbuild prints what it finds itself.
  if (error.errors === undefined) console.error(error.message);
  process.exitCode = 1;
});
