import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  variables: Record<string, string>,
  files: Record<string, string> = {},
): Promise<RuntimeProcess> {
  const { directory, remove } = await createModelDir({
    copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
    files,
  });
  const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory, ...variables });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  await runtime.ready();
  return runtime;
}

function workerPids(runtime: RuntimeProcess): number[] {
  const started = runtime.log().filter(({ msg }) => msg === 'worker started');
  return started.map(({ pid }) => pid as number);
}

/** The status and the text, or the name of what went wrong with the connection. */
function post(url: string, agent: Agent | false, body: string): Promise<[number | string, string]> {
  return new Promise((resolve) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const sent = request(`${url}/invocations`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
      response.on('error', ({ message }) => resolve([message, text]));
    });
    sent.on('error', ({ message }) => {
      // Between an answer and the note that it is sent a worker may die, which ends the connection after it. Clients
      // send again what a kept connection lost.
      if (sent.reusedSocket) resolve(post(url, false, body));
      else resolve([message, '']);
    });
    sent.end(body);
  });
}

const IN_PROCESS = { SAGEMAKER_TFS_BACKEND: 'in-process' };

test.each([
  ['the only worker', { ...IN_PROCESS, SAGEMAKER_TFS_PROCESSES: '1' }],
  ['the only worker before TensorFlow Serving', { SAGEMAKER_TFS_PROCESSES: '1' }],
  ['one of two workers', { ...IN_PROCESS, SAGEMAKER_TFS_PROCESSES: '2' }],
])(
  '%s is killed again and again: every request is answered, right or clearly refused',
  async (_name, variables) => {
    const runtime = await start(variables);
    const kept = new Agent({ keepAlive: true });
    cleanups.push(() => kept.destroy());
    const right = JSON.stringify({ predictions: [3.5] });
    const seen = new Map<string, number>();
    let isOver = false;
    const clients = Array.from({ length: 8 }, async (_, index) => {
      while (!isOver) {
        const agent = index % 2 === 0 ? kept : false;
        const [status, text] = await post(runtime.url, agent, '{"instances": [1.0]}');
        const what =
          status === 200
            ? text === right
              ? 'right'
              : `wrong: ${text}`
            : status === 503 && /PROCESS_GONE|MODEL_NOT_READY/.test(text)
              ? 'refused'
              : `lost: ${status} ${text}`;
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
    });
    for (let kills = 1; kills <= 3; kills += 1) {
      const before = seen.get('right') ?? 0;
      await until(() => (seen.get('right') ?? 0) > before + 20);
      const pid = workerPids(runtime).at(-1) as number;
      process.kill(pid, 'SIGKILL');
      const processes = Number(variables.SAGEMAKER_TFS_PROCESSES);
      await until(() => workerPids(runtime).length === processes + kills);
    }
    const before = seen.get('right') ?? 0;
    await until(() => (seen.get('right') ?? 0) > before + 20);
    isOver = true;
    await Promise.all(clients);
    expect([...seen.keys()].filter((what) => !['right', 'refused'].includes(what))).toEqual([]);
  },
);

test('a request whose worker dies gets an error, and is not sent again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'front-door-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const seen = join(directory, 'seen');
  const handler = `import { appendFileSync } from 'node:fs';
  export async function handler(data) {
    const text = Buffer.from(data).toString();
    appendFileSync(${JSON.stringify(seen)}, text + '\\n');
    if (text === 'die') process.kill(process.pid, 'SIGKILL');
    if (text === 'hang') await new Promise(() => undefined);
    return { text };
  }`;
  const runtime = await start({}, { 'code/inference.mjs': handler });
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(() => kept.destroy());
  // Its connection is idle when the worker dies, and ends with it: the client opens another.
  expect(await post(runtime.url, kept, 'first')).toEqual([200, '{"text":"first"}']);
  const hanging = post(runtime.url, false, 'hang');
  const killing = post(runtime.url, false, 'die');
  for (const [status, text] of [await hanging, await killing]) {
    expect(status).toBe(503);
    expect(text).toContain('PROCESS_GONE');
  }
  await runtime.ready();
  expect(await post(runtime.url, kept, 'second')).toEqual([200, '{"text":"second"}']);
  const bodies = (await readFile(seen, 'utf8')).trim().split('\n');
  // The worker may have died before it took the other.
  expect(bodies.filter((body) => body !== 'hang')).toEqual(['first', 'die', 'second']);
  expect(bodies.filter((body) => body === 'hang').length).toBeLessThan(2);
});

test('connections that are opened and dropped faster than a worker takes them keep nobody waiting', async () => {
  const variables = { SAGEMAKER_TFS_PROCESSES: '1', SAGEMAKER_TFS_LOG_LEVEL: 'debug' };
  const runtime = await start({ ...IN_PROCESS, ...variables });
  const port = Number(new URL(runtime.url).port);
  const [worker] = workerPids(runtime) as [number];
  // The worker answers pings a moment before the primary knows that it is ready.
  await until(() => runtime.log().some(({ msg }) => msg === 'worker ready'));
  const descriptors = () => readdirSync(`/proc/${runtime.pid}/fd`).length;
  const before = descriptors();
  // As far behind as it can be.
  process.kill(worker, 'SIGSTOP');
  cleanups.push(() => process.kill(worker, 'SIGCONT'));
  const dropped = Array.from({ length: 300 }, async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write('POST /invocations HTTP/1.1\r\n', resolve));
    socket.destroy();
  });
  await Promise.all(dropped);
  // On a connection of its own: one that is kept is the worker's already.
  const ping = request(`${runtime.url}/ping`, { agent: false }).end();
  const [answer] = (await once(ping, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(200);
  const [status, text] = await post(runtime.url, false, '{"instances": [1.0]}');
  expect([status, JSON.parse(text).code]).toEqual([503, 'OVERLOADED']);
  expect(runtime.log()).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      msg: expect.stringContaining('more connections are opened than the processes take'),
    }),
  );
  process.kill(worker, 'SIGCONT');
  expect(await post(runtime.url, false, '{"instances": [1.0]}')).toEqual([
    200,
    JSON.stringify({ predictions: [3.5] }),
  ]);
  // The primary keeps none of those connections.
  await until(() => descriptors() <= before + 8);
});

test('SIGTERM ends connections that ask nothing; headers that do not come are not waited for', async () => {
  const runtime = await start(
    { SAGEMAKER_TFS_SHUTDOWN_TIMEOUT_SECONDS: '3600', SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS: '1' },
    { 'code/inference.mjs': 'export const handler = async () => ({ done: true });' },
  );
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(() => kept.destroy());
  expect(await post(runtime.url, kept, '{}')).toEqual([200, '{"done":true}']);
  const silent = connect(Number(new URL(runtime.url).port), '127.0.0.1', () => {
    silent.write('POST / HTTP/1.1\r\n');
  });
  cleanups.push(() => silent.destroy());
  const [answer] = (await once(silent, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 408 /);
  expect(await runtime.end('SIGTERM')).toBe(0);
});

test('what a worker had not read when it died is not taken for the next request', async () => {
  const runtime = await start({
    SAGEMAKER_TFS_BACKEND: 'in-process',
    SAGEMAKER_TFS_PROCESSES: '2',
  });
  const sockets = Array.from({ length: 2 }, () =>
    connect(Number(new URL(runtime.url).port), '127.0.0.1'),
  );
  for (const socket of sockets) {
    cleanups.push(() => socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    // A head that never becomes whole: the worker reads it, and has no request.
    socket.write('POST /invocations HTTP/1.1\r\nContent-Le');
  }
  // Their workers have them by now: this one came after them.
  expect((await post(runtime.url, false, '{"instances": [1.0]}'))[0]).toBe(200);
  // Which worker took which depends on when each was ready.
  for (const pid of workerPids(runtime)) process.kill(pid, 'SIGKILL');
  const said = await Promise.race(
    sockets.map(async (socket) => {
      const [first] = (await once(socket, 'data')) as [Buffer];
      socket.write('ngth: 0\r\n\r\nGET /ping HTTP/1.1\r\n\r\n');
      let text = first.toString();
      for await (const chunk of socket) text += chunk;
      return text;
    }),
  );
  expect(said).toMatch(/^HTTP\/1\.1 503 [\s\S]*PROCESS_GONE/);
  expect(said.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test('/ping is answered while no worker takes connections', async () => {
  const runtime = await start({ ...IN_PROCESS, SAGEMAKER_TFS_PROCESSES: '1' });
  process.kill(workerPids(runtime)[0] as number, 'SIGKILL');
  const { status } = await fetch(`${runtime.url}/ping`);
  expect([200, 503]).toContain(status);
  await runtime.ready();
});
