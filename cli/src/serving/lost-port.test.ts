/** Another program takes a port between the look for a free one and the start. A false look stands for it, as the real one is rare. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { type Listening, listening } from '../../../test/support/listening.ts';
import { freePort, freePortRange } from './free-port.ts';
import { startRuntime } from './runtime-process.ts';

jest.mock('./free-port.ts', () => {
  const real = jest.requireActual('./free-port.ts');
  return {
    ...real,
    freePort: jest.fn(real.freePort),
    freePortRange: jest.fn(real.freePortRange),
  };
});

const work = mkdtempSync(join(tmpdir(), 'lost-port-'));
const modelDirectory = fixtureModel('half_plus_two').basePath;
const start = (port?: number) =>
  startRuntime({ modelDirectory, log: join(work, 'log'), ...(port && { port }) });

let other: Listening;
let taken: number;
beforeAll(async () => {
  other = await listening(createServer((_, response) => response.writeHead(404).end()));
  taken = Number(new URL(other.url).port);
});
afterAll(async () => {
  await other.close();
  rmSync(work, { recursive: true, force: true });
});
afterEach(() => {
  jest.mocked(freePort).mockClear();
  jest.mocked(freePortRange).mockClear();
});

test.each([
  ['the runtime', jest.mocked(freePort)],
  ['the model server', jest.mocked(freePortRange)],
])('a port of %s is looked for once more', async (_, look) => {
  look.mockResolvedValueOnce(taken);
  const runtime = await start();
  await runtime.stop();
  expect(look).toHaveBeenCalledTimes(2);
});

test('not for ever', async () => {
  jest.mocked(freePort).mockResolvedValue(taken);
  await expect(start()).rejects.toThrow(/in use/);
  expect(freePort).toHaveBeenCalledTimes(3);
});

test('a port of the caller stays', async () => {
  await expect(start(taken)).rejects.toThrow(/in use/);
  expect(freePortRange).toHaveBeenCalledTimes(1);
});
