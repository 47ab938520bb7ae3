/**
 * Stands in for `tensorflow_model_server`: starts the real one on other ports and passes all bytes on, or not, as the
 * file FAULTS_CONTROL says: `pass`, `slow`, `refuse`, `cut` (replies end in the middle), `garbage` (replies are noise).
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const SLOW_MS = 300;
const mode = () => readFileSync(process.env.FAULTS_CONTROL, 'utf8').trim() || 'pass';

const given = process.argv.slice(2).map((flag) => /^--([^=]+)=(.*)$/s.exec(flag) ?? [flag]);
const flag = (name) => given.find(([, key]) => key === name)?.[2];
const socket = flag('grpc_socket_path');
const behind = {
  port: await freePort(),
  rest_api_port: await freePort(),
  ...(socket && { grpc_socket_path: `${socket}-0` }),
};
const flags = given.map(([whole, name]) => (name in behind ? `--${name}=${behind[name]}` : whole));

const child = spawn(process.env.FAULTS_MODEL_SERVER, flags, { stdio: 'inherit' });
child.once('exit', (status) => process.exit(status ?? 1));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal));
// The real one ends with us however we end: it waits on a pipe that only we hold.
spawn('/bin/sh', ['-c', 'read -r _; kill -s KILL -- "$1" 2>/dev/null', 'sh', String(child.pid)], {
  stdio: ['pipe', 'ignore', 'ignore'],
  detached: true,
}).unref();

await Promise.all([
  pass({ port: Number(flag('port')), host: '127.0.0.1' }, { port: behind.port, host: '127.0.0.1' }),
  pass(
    { port: Number(flag('rest_api_port')), host: '127.0.0.1' },
    { port: behind.rest_api_port, host: '127.0.0.1' },
  ),
  socket && pass({ path: socket }, { path: behind.grpc_socket_path }),
]);

async function pass(from, to) {
  const server = createServer((client) => {
    if (mode() === 'refuse') return client.destroy();
    const upstream = connect(to);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const one of [client, upstream]) one.on('error', end).on('close', end);
    client.on('data', (chunk) => (mode() === 'refuse' ? end() : upstream.write(chunk)));
    let turn = Promise.resolve();
    upstream.on('data', (chunk) => {
      turn = turn.then(() => reply(client, chunk, end));
    });
  });
  server.listen(from);
  await once(server, 'listening');
}

async function reply(client, chunk, end) {
  switch (mode()) {
    case 'refuse':
      return end();
    case 'slow':
      await sleep(SLOW_MS);
      break;
    case 'cut':
      client.write(chunk.subarray(0, chunk.length >> 1));
      client.destroySoon();
      return;
    case 'garbage':
      client.write(randomBytes(chunk.length));
      return;
  }
  client.write(chunk);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
