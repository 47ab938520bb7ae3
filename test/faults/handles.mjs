/** Loaded into every process of a runtime under a steady load: notes how many handles and timers it holds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.SOAK_HANDLES;
if (folder && isMainThread) {
  const note = () =>
    writeFileSync(join(folder, String(process.pid)), `${process.getActiveResourcesInfo().length}`);
  note();
  setInterval(note, 1_000).unref();
}
