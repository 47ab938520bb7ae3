/** `SAGEMAKER_TFS_MODEL_SERVER_TCP=false`: TensorFlow Serving has no port that others on the network could reach. */
import { readFile } from 'node:fs/promises';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readEnvironment } from '../environment.ts';
import { freePorts } from '../testing/ports.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const WITHOUT = { SAGEMAKER_TFS_MODEL_SERVER_TCP: 'false' };

const start = useRuntimes();

/** Ports that something on this machine listens on. */
async function listening(): Promise<Set<number>> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')),
  );
  const LISTEN = '0A';
  const lines = tables.flatMap((table) => table.trim().split('\n').slice(1));
  const sockets = lines.map((line) => line.trim().split(/\s+/));
  const open = sockets.filter(([, , , state]) => state === LISTEN);
  return new Set(open.map(([, local = '']) => Number.parseInt(local.split(':').at(-1) ?? '', 16)));
}

test('small and large requests go through the socket, and no port is open but the own one', async () => {
  const copies = { half: fixtureModel('half_plus_two').basePath };
  const low = await freePorts(2);
  const { url } = await start(
    { copies },
    { ...WITHOUT, SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}` },
  );
  const ask = async (rows: number, attributes = '') => {
    const response = await fetch(`${url}/invocations`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Amzn-SageMaker-Custom-Attributes': attributes,
      },
      body: JSON.stringify({ instances: new Array(rows).fill(4) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  for (const rows of [1, 200_000]) {
    const { status, body } = await ask(rows);
    expect([status, (body.predictions as number[]).length]).toEqual([200, rows]);
  }
  const open = await listening();
  expect([low, low + 1].filter((port) => open.has(port))).toEqual([]);
  expect(open.has(Number(new URL(url).port))).toBe(true);
  expect(await ask(1, 'tfs-transport=rest')).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('SAGEMAKER_TFS_MODEL_SERVER_TCP') },
  });
});

test('REST as the backend is refused', () => {
  expect(() => readEnvironment({ ...WITHOUT, SAGEMAKER_TFS_BACKEND: 'rest' })).toThrow(
    'needs a port of the model server',
  );
});
