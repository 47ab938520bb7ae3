/** Another program takes a port of the model server between the look for free ports and the model server's own start. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { freePorts } from '../testing/ports.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  variables: Record<string, string>,
): Promise<{ runtime: RuntimeProcess; ports: { grpc: number; rest: number } }> {
  const copies = { half: fixtureModel('half_plus_two').basePath };
  const { directory, remove } = await createModelDir({ copies });
  cleanups.push(remove);
  const low = await freePorts(2);
  const runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
    ...variables,
  });
  cleanups.push(() => runtime.end('SIGKILL'));
  return { runtime, ports: { grpc: low, rest: low + 1 } };
}

/** Takes a port as soon as it is free; it counts who connects. */
async function take(port: number): Promise<{ server: Server; callers: () => number }> {
  let callers = 0;
  for (;;) {
    const server = createServer((socket) => {
      callers += 1;
      socket.destroy();
    });
    server.listen(port, '0.0.0.0');
    const isTaken = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isTaken) continue;
    cleanups.push(() => server.close());
    return { server, callers: () => callers };
  }
}

function serverPids(runtime: RuntimeProcess): number[] {
  return runtime.log().flatMap(({ msg, pid }) => (msg === 'started' ? [pid as number] : []));
}

test.each(['grpc', 'rest'] as const)(
  'its %s port, at the first start: which fails, and names it',
  async (which) => {
    const { runtime, ports } = await start({});
    await until(() => serverPids(runtime).length === 1);
    await take(ports[which]);
    expect(await runtime.exit).toBe(1);
    expect(runtime.output()).toContain(`port ${ports[which]} of 0.0.0.0 is in use (EADDRINUSE).`);
  },
);

test.each(['grpc', 'rest'] as const)(
  'its %s port, at a restart: 503 names it until it is free, and nobody is asked there',
  async (backend) => {
    const { runtime, ports } = await start({ SAGEMAKER_TFS_BACKEND: backend });
    await runtime.ready();
    process.kill(serverPids(runtime)[0] as number, 'SIGKILL');
    const { server, callers } = await take(ports[backend]);
    const ping = async () => (await fetch(`${runtime.url}/ping`)).text();
    await until(async () => (await ping()).includes(`port ${ports[backend]} of 0.0.0.0 is in use`));
    // Too large for the socket.
    const asked = fetch(`${runtime.url}/invocations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ instances: new Array(100_000).fill(2) }),
    });
    await until(
      () => runtime.log().filter(({ restartInMs }) => restartInMs !== undefined).length > 2,
    );
    expect(callers()).toBe(0);
    server.close();
    expect((await asked).status).toBe(200);
  },
);
