import crypto from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { freePortRange } from './free-port.ts';

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('neighboring ports are free, and none that an outgoing connection may have', async () => {
  const first = await freePortRange(8);
  const ports = Array.from({ length: 8 }, (_, offset) => first + offset);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  const servers = await Promise.all(ports.map(listening));
  expect(servers.map((server) => server.listening)).not.toContain(false);
  // Those are taken now.
  expect(ports).not.toContain(await freePortRange(8));
  for (const server of servers) server.close();
});

test('a port that is kept for another is none of them', async () => {
  const kept = await freePortRange(16);
  const drawn = jest.spyOn(crypto, 'randomInt') as unknown as jest.SpyInstance<number>;
  try {
    for (const first of [kept, kept - 7, kept - 3]) drawn.mockReturnValueOnce(first);
    drawn.mockReturnValueOnce(kept + 1);
    expect(await freePortRange(8, kept)).toBe(kept + 1);
  } finally {
    drawn.mockRestore();
  }
});
