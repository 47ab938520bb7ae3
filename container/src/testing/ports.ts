/** Free ports for tests. */
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 20_000;
/** Below the ports of outgoing connections. */
const LAST = 32_000;
/** jest's processes, each with ports of its own. */
const PROCESSES = 4;

const share = Math.floor((LAST - FIRST) / PROCESSES);
const first = FIRST + (Number(process.env.JEST_WORKER_ID ?? 1) % PROCESSES) * share;
/** Given out before; what they were for may not listen yet. */
const given = new Set<number>();

/** The first of `count` ports in a row that nobody listens on, and that no earlier call returned. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const low = first + Math.floor(Math.random() * (share - count));
    const ports = Array.from({ length: count }, (_, i) => low + i);
    if (ports.some((port) => given.has(port))) continue;
    const free = await Promise.all(ports.map(isFree));
    if (!free.every(Boolean)) continue;
    for (const port of ports) given.add(port);
    return low;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '0.0.0.0');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
