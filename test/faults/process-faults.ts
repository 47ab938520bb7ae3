/** Processes that are killed or stopped, and a model server that answers badly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Ground } from './ground.ts';

/** Right answers between two faults: the clients are all at work again. */
const BETWEEN = 40;
/** How long a process stands still, in ms. */
const STILL_MS = 1_000;
/** How long a model server answers badly, in ms. */
const BAD_MS = 1_000;
const START_LIMIT_MS = 60_000;

type Kind = Parameters<Ground['served']['pids']>[0];

/** kill -9. A worker takes the threads that read text and pictures with it. */
export function killed(kind: Kind): Fault {
  return {
    name: kind === 'worker' ? 'kill -9 of the worker, with its threads' : `kill -9 of the ${kind}`,
    ...of(kind),
    async happen({ served, tally, times }) {
      for (let time = 0; time < times; time++) {
        process.kill(await runningPid(served, kind), 'SIGKILL');
        tally.fault();
        await tally.untilRight(BETWEEN);
      }
    },
  };
}

/** SIGSTOP, and SIGCONT a second later. */
export function stopped(kind: Kind): Fault {
  return {
    name: `SIGSTOP of the ${kind}, SIGCONT after ${STILL_MS / 1000} s`,
    ...of(kind),
    async happen({ served, tally, times }) {
      for (let time = 0; time < times; time++) {
        const pid = await runningPid(served, kind);
        process.kill(pid, 'SIGSTOP');
        try {
          await sleep(STILL_MS);
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        tally.fault();
        await tally.untilRight(BETWEEN);
      }
    },
  };
}

/** A model server is not there in-process. */
function of(kind: Kind): Pick<Fault, 'needs'> {
  return kind === 'worker' ? {} : { needs: kind };
}

/** The one above the workers too, which keeps the port: the container ends, and SageMaker starts another. */
export const containerKilled: Fault = {
  name: 'kill -9 of every process, and another container',
  endsContainer: true,
  async happen({ served, tally, times }) {
    for (let time = 0; time < times; time++) {
      await served.replace();
      tally.fault();
      await tally.untilRight(BETWEEN);
    }
  },
};

/** One that has just been killed is replaced soon. */
async function runningPid(served: Ground['served'], kind: Kind): Promise<number> {
  for (const end = performance.now() + START_LIMIT_MS; performance.now() < end; await sleep(20)) {
    const [pid] = served.pids(kind);
    if (pid !== undefined) return pid;
  }
  throw new Error(`there is no ${kind}`);
}

/** A model server that can be reached and does not do its work. */
export function bad(mode: Exclude<Parameters<Ground['between']>[0], 'pass'>): Fault {
  return {
    name: `the model server ${BAD[mode]}`,
    async happen({ tally, times, between }) {
      for (let time = 0; time < times; time++) {
        between(mode);
        try {
          await sleep(BAD_MS);
        } finally {
          between('pass');
        }
        tally.fault();
        await tally.untilRight(BETWEEN);
      }
    },
  };
}

const BAD = {
  slow: 'is slow (0.3 s for every part of a reply)',
  refuse: 'refuses connections',
  cut: 'closes in the middle of a reply',
  garbage: 'sends noise',
};
