/** Findings of `npm run fuzz` and some other inputs, tried on every parser; more are tried by the command. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exercise } from './exercise.ts';
import { randomOf } from './random.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets/index.ts';
import { removeScratch } from './targets/scratch.ts';

const CORPUS = join(__dirname, 'corpus');
/** Those that write files or decode pictures take milliseconds each. */
const SLOW = new Set([
  ...['tar', 'zip', 'saved-model', 'checkpoint-index', 'jpeg-header'],
  ...['jpeg', 'png', 'webp', 'gif', 'tiff', 'http-server', 'rest-connection', 'grpc-connection'],
]);

afterAll(removeScratch);

describe.each(TARGETS.map((target) => [target.name, target] as const))('%s', (name, target) => {
  const folder = join(CORPUS, name);
  const found = existsSync(folder) ? readdirSync(folder) : [];

  test('what was found once is read or refused', async () => {
    for (const file of found) {
      const bytes = readFileSync(join(folder, file));
      for (let index = 0; index < 20; index++) {
        try {
          await target.read(bytes, randomOf(1, index));
        } catch (error) {
          expect([file, error, target.isRefusal(error)]).toEqual([file, error, true]);
        }
      }
    }
  });

  test('other inputs, and honest ones in between', async () => {
    const inputs = SLOW.has(name) ? 60 : 500;
    // The machine may be busy, and other tests run in this process.
    const { findings } = await exercise(target, { seed: 5, inputs, judgesCost: false });
    expect(findings).toEqual([]);
  });
});

test('every folder of the corpus is a parser’s', () => {
  const names = TARGETS.map(({ name }) => name);
  expect(readdirSync(CORPUS).filter((folder) => !names.includes(folder))).toEqual([]);
});

test('an input that takes more memory than its bytes account for is found', async () => {
  // Not the system's own count: this process may have held more for the suite before.
  let most = 0;
  const target = {
    ...(TARGETS[0] as Target),
    read: (bytes: Buffer) => {
      if (bytes[0] === 7) most += 2 ** 28;
    },
    seeds: async () => [Buffer.alloc(1)],
    build: () => Buffer.alloc(1, 7),
  };
  const { findings } = await exercise(target, { seed: 1, inputs: 1, mostBytes: () => most });
  expect(findings.map(({ what }) => what)).toEqual([expect.stringMatching(/MiB for 1 bytes/)]);
});
