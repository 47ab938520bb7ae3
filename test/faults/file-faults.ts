/** Model directories that change under load, models that come and go, and full disks. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Ground } from './ground.ts';
import { killed } from './process-faults.ts';

/** Right answers between two faults. */
const BETWEEN = 40;
/** Long enough for a model server to see what has changed: it looks ten times a second here. */
const SEEN_MS = 600;

/** The version directory is moved away, and comes back. */
export const withdrawn: Fault = {
  name: 'the model directory is withdrawn, and put back',
  allowed: ['MODEL_NOT_FOUND'],
  async happen({ tally, basePath, times }) {
    const away = `${basePath}-away`;
    for (let time = 0; time < times; time++) {
      await rename(join(basePath, '1'), away);
      await sleep(SEEN_MS);
      await rename(away, join(basePath, '1'));
      tally.fault();
      await tally.untilRight(BETWEEN);
    }
  },
};

/** Another version appears that cannot be read, and goes again. */
export const replaced: Fault = {
  name: 'a damaged version appears beside the model',
  async happen({ tally, basePath, times }) {
    const damaged = join(basePath, '2');
    for (let time = 0; time < times; time++) {
      await mkdir(damaged);
      await writeFile(join(damaged, 'saved_model.pb'), 'no model');
      await sleep(SEEN_MS);
      tally.fault();
      await tally.untilRight(BETWEEN);
      await rm(damaged, { recursive: true });
    }
  },
};

/** The same model is unpacked anew in the place of the old files. */
export const rewritten: Fault = {
  name: 'the model directory is replaced by a new copy',
  allowed: ['MODEL_NOT_FOUND'],
  async happen({ tally, basePath, times }) {
    const copy = `${basePath}-copy`;
    for (let time = 0; time < times; time++) {
      await cp(join(basePath, '1'), copy, { recursive: true });
      await rm(join(basePath, '1'), { recursive: true });
      await rename(copy, join(basePath, '1'));
      await sleep(SEEN_MS);
      tally.fault();
      await tally.untilRight(BETWEEN);
    }
  },
};

/** Models of a multi-model endpoint come and go beside the one that is asked. */
export const loadedAndUnloaded: Fault = {
  name: 'other models are loaded and unloaded',
  async happen({ served, tally, basePath, times }) {
    for (let time = 0; time < 3 * times; time++) {
      const body = JSON.stringify({ model_name: 'other', url: join(basePath, '..') });
      const loaded = await fetch(`${served.url}/models`, { method: 'POST', body });
      const unloaded = await fetch(`${served.url}/models/other`, { method: 'DELETE' });
      for (const { status } of [loaded, unloaded]) {
        tally.add(status === 200 ? 'right' : 'wrong', () => `a change of models: ${status}`);
      }
      tally.fault();
      await tally.untilRight(BETWEEN);
    }
  },
};

/** No byte can be written to the temporary directory, while a worker and a model server have to start again. */
export function onFullDisk(kind: 'model server' | 'worker'): Fault {
  return {
    name: `disk full, and ${killed(kind).name}`,
    async happen(ground) {
      const filler = fill(ground);
      try {
        await killed(kind).happen(ground);
      } finally {
        rmSync(filler);
      }
    },
  };
}

function fill({ smallDisk }: Ground): string {
  const filler = join(smallDisk, 'filler');
  const file = openSync(filler, 'w');
  try {
    for (const size of [65_536, 4_096, 1]) {
      const bytes = Buffer.alloc(size);
      try {
        while (writeSync(file, bytes) > 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(file);
  }
  return filler;
}
