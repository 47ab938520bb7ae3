/** The recording of the README: a model is looked at, served, asked and packaged. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installTools } from '../site/install.ts';
import { recordingSvg } from './frames.ts';
import { record, SIZE } from './record.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const OUT = join(ROOT, 'docs', 'images', 'terminal.svg');
/** The last line is the shell's, and waits. */
const PROMPT = /(?:^|\n)\$$/;
const URL = 'http://127.0.0.1:8080';

/** Writes docs/images/terminal.svg. Port 8080 must be free. */
export async function recordTiles(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'));
  try {
    await cp(join(ROOT, 'examples', 'tiles'), join(folder, 'examples', 'tiles'), {
      recursive: true,
    });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const { NO_COLOR: _, CI: __, ...environment } = process.env;
    const quiet = { ...environment, NPM_CONFIG_LOGLEVEL: 'error', NPM_CONFIG_PROGRESS: 'false' };
    const frames = await record(installTools(), folder, quiet, async ({ type, press }) => {
      await type('npx sagemaker-tfs inspect examples/tiles/model', PROMPT);
      await type('npx sagemaker-tfs serve examples/tiles/model', /q quit/);
      await sleep(800);
      for (const name of ['00003-urban.jpg', '00001-forest.jpg', '00000-water.jpg']) {
        await post(await readFile(join(folder, 'examples/tiles/samples', name)));
      }
      await post(Buffer.from('no picture'));
      await press('q', PROMPT);
      const sample = '--sample examples/tiles/samples/00003-urban.jpg';
      await type(
        `npx sagemaker-tfs package examples/tiles/model --out tiles.tar.gz ${sample}`,
        PROMPT,
      );
    });
    const title =
      'A terminal: inspect prints the signature, serve answers pictures, package tries the archive';
    await writeFile(OUT, recordingSvg(frames, SIZE, title));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function post(body: Uint8Array): Promise<void> {
  const headers = { 'Content-Type': 'image/jpeg' };
  await (await fetch(`${URL}/invocations`, { method: 'POST', body, headers })).arrayBuffer();
  await sleep(700);
}
