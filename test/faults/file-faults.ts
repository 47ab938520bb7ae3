/** Model directories that change under load, models that come and go, and full disks. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startClients } from './clients.ts';
import type { Fault, Ground } from './ground.ts';
import { killed } from './process-faults.ts';

/** Right answers between two faults. */
const BETWEEN = 40;
/** Long enough for a model server to see what has changed: it looks ten times a second here. */
const SEEN_MS = 600;

/** Changes files several times, and waits for right answers after each. */
async function eachTime({ tally }: Ground, times: number, change: () => Promise<void>) {
  for (let time = 0; time < times; time++) {
    await change();
    tally.fault();
    await tally.untilRight(BETWEEN);
  }
}

/** The version directory is moved away, and comes back. */
export const withdrawn: Fault = {
  name: 'the model directory is withdrawn, and put back',
  allowed: ['MODEL_NOT_FOUND'],
  happen(ground) {
    const version = join(ground.basePath, '1');
    const away = `${ground.basePath}-away`;
    return eachTime(ground, ground.times, async () => {
      await rename(version, away);
      await sleep(SEEN_MS);
      await rename(away, version);
    });
  },
};

/** Another version appears that cannot be read, and goes again. */
export const replaced: Fault = {
  name: 'a damaged version appears beside the model',
  async happen(ground) {
    const damaged = join(ground.basePath, '2');
    await eachTime(ground, ground.times, async () => {
      await rm(damaged, { recursive: true, force: true });
      await mkdir(damaged);
      await writeFile(join(damaged, 'saved_model.pb'), 'no model');
      await sleep(SEEN_MS);
    });
    await rm(damaged, { recursive: true });
  },
};

/** The same model is unpacked anew in place of the old files. */
export const rewritten: Fault = {
  name: 'the model directory is replaced by a new copy',
  allowed: ['MODEL_NOT_FOUND'],
  happen(ground) {
    const version = join(ground.basePath, '1');
    const copy = `${ground.basePath}-copy`;
    return eachTime(ground, ground.times, async () => {
      await cp(version, copy, { recursive: true });
      await rm(version, { recursive: true });
      await rename(copy, version);
      await sleep(SEEN_MS);
    });
  },
};

/** Models of a multi-model endpoint come and go beside the one that is asked. */
export const loadedAndUnloaded: Fault = {
  name: 'other models are loaded and unloaded',
  isLong: true,
  happen: (ground) => eachTime(ground, 3 * ground.times, () => loadAndUnload(ground)),
};

/** The same, while some clients ask the one that comes and goes. */
export const askedWhileUnloaded: Fault = {
  name: 'a model is loaded and unloaded while it is asked',
  allowed: ['MODEL_NOT_FOUND'],
  async happen(ground) {
    const { served, tally, questions, times } = ground;
    const asked = questions.map((one) => ({ ...one, path: '/models/other/invoke' }));
    const clients = startClients({ url: served.url, questions: asked, count: 8 }, tally);
    try {
      await eachTime(ground, 3 * times, () => loadAndUnload(ground, ASKED_MS));
    } finally {
      await clients.stop();
    }
  },
};

/** How long a model stays, in ms. */
const ASKED_MS = 300;

async function loadAndUnload({ served, tally, basePath }: Ground, stays = 0): Promise<void> {
  const body = JSON.stringify({ model_name: 'other', url: basePath });
  const loaded = await fetch(`${served.url}/models`, { method: 'POST', body });
  await sleep(stays);
  const unloaded = await fetch(`${served.url}/models/other`, { method: 'DELETE' });
  for (const { status } of [loaded, unloaded]) {
    tally.add(status === 200 ? 'right' : 'wrong', () => `a change of models: ${status}`);
  }
}

/** No byte can be written to the temporary directory, while a worker and a model server have to start again. */
export function onFullDisk(kind: 'model server' | 'worker'): Fault {
  return {
    ...killed(kind),
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
