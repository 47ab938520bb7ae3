/** However the demo ends, nothing that it started continues. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(__dirname, '..', '..');
const onLinux = existsSync('/proc/self/environ') ? describe : describe.skip;

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'demo-'));
});
afterEach(() => rm(out, { recursive: true, force: true }));

/** Starts the demo and waits until it talks to the runtime. */
async function startDemo(mark: string): Promise<{ demo: ChildProcess; text: () => string }> {
  const demo = spawn(process.execPath, ['--import', 'tsx', 'demo/run.ts', '--out', out], {
    cwd: root,
    env: { ...process.env, DEMO_TEST_MARK: mark },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  demo.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  while (!text.includes('One image after another')) {
    if (demo.exitCode !== null) throw new Error(text);
    await sleep(50);
  }
  return { demo, text: () => text };
}

/** Processes that inherited the mark, whoever their parent is by now. */
function marked(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function noneLeft(mark: string): Promise<string[]> {
  for (let tries = 300; tries > 0 && marked(mark).length > 0; tries--) await sleep(100);
  return marked(mark);
}

onLinux('an ended demo leaves no process (Linux: read off /proc)', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'after %s, with status 1 and a reason',
    async (signal) => {
      const mark = randomUUID();
      const { demo, text } = await startDemo(mark);
      expect(marked(mark).length).toBeGreaterThan(1);
      demo.kill(signal);
      const [status] = await once(demo, 'exit');
      expect(status).toBe(1);
      expect(text()).toContain(`interrupted by ${signal}`);
      expect(await noneLeft(mark)).toEqual([]);
    },
  );

  test('after SIGKILL', async () => {
    const mark = randomUUID();
    const { demo } = await startDemo(mark);
    demo.kill('SIGKILL');
    await once(demo, 'exit');
    expect(await noneLeft(mark)).toEqual([]);
  });
});
