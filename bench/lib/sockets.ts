/** The physical limit: the same bytes through two bare socket hops, between three processes. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { endChild, firstLine, startChild } from '../../tools/children.ts';
import { programPath } from './programs.ts';

/** Bytes that one read of the client takes at most. */
const READ_BYTES = 1_048_576;

/** Milliseconds of each of `rounds` transfers of `bytes` bytes. */
export async function twoSocketHops(bytes: number, rounds: number): Promise<number[]> {
  const server = await startSockets('serve', bytes);
  const relay = await startSockets('relay', server.port);
  try {
    return await transfers(relay.port, bytes, rounds);
  } finally {
    await Promise.all([endChild(relay.child), endChild(server.child)]);
  }
}

async function startSockets(mode: 'serve' | 'relay', number: number) {
  const child = startChild(process.execPath, [programPath('sockets'), mode, String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, port: Number(await firstLine(child)) };
}

async function transfers(port: number, bytes: number, rounds: number): Promise<number[]> {
  const buffer = Buffer.alloc(READ_BYTES);
  let left = 0;
  let arrived = () => {};
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback(count) {
        left -= count;
        if (left === 0) arrived();
        return true;
      },
    },
  });
  await once(socket, 'connect');
  const milliseconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    left = bytes;
    const done = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    socket.write('x');
    await done;
    milliseconds.push(performance.now() - from);
  }
  socket.destroy();
  return milliseconds;
}
