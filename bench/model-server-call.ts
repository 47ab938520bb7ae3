/** A call of the model server's REST API, in this process alone: node:http, undici, our own client. */
import { Agent, request as httpRequest } from 'node:http';
import { Pool } from 'undici';
import { HttpClient } from '../container/src/transport/http/http-client.ts';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { calmRounds } from './lib/calm-rounds.ts';
import { startCanned } from './lib/front-ends.ts';
import { jsonRow } from './lib/json-row.ts';
import { median } from './lib/sockets.ts';

const NODE_HTTP = 'node:http';
const PATH = '/v1/models/model:predict';
const IN_FLIGHT = 8;
const ROUNDS = 3;
/** Parts of a window: what each is warmed up for, and what a round takes. */
const PART = { warmUp: 1, round: 1 / 2 };

/** Sends the body and reads the answer whole. @returns its bytes */
type Call = () => Promise<number>;

/** Figures of one round. */
interface Round {
  readonly callsPerSecond: number;
  readonly cpuMilliseconds: number;
}

export const modelServerCall: Bench = {
  name: 'model-server-call',
  question: "A call of the model server's REST API: what does the client alone cost?",
  async run(context): Promise<Findings> {
    const body = jsonRow();
    const server = await startCanned('J');
    try {
      const clients = [
        nodeHttp(server.restPort, body),
        undici(server.restPort, body),
        ours(server.restPort, body),
      ];
      const rows = await inTurns(clients, context);
      return {
        tables: [
          {
            title: `${body.length.toLocaleString('en-US')} bytes of JSON there and as many back, ${IN_FLIGHT} in flight (baseline: ${NODE_HTTP})`,
            columns: [
              { key: 'name', title: 'Client' },
              { key: 'rate', title: 'Calls/s' },
              { key: 'cpu', title: 'CPU of the client, ms a call' },
              { key: 'ratio', title: 'CPU of the baseline over its own' },
            ],
            rows,
          },
        ],
      };
    } finally {
      await server.stop();
    }
  },
};

interface Client {
  readonly name: string;
  readonly call: Call;
  readonly close: () => unknown;
}

function nodeHttp(port: number, body: Buffer): Client {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const options = { host: '127.0.0.1', port, method: 'POST', path: PATH, agent, headers };
  const call: Call = () =>
    new Promise((resolve, reject) => {
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).length));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  return { name: NODE_HTTP, call, close: () => agent.destroy() };
}

function undici(port: number, body: Buffer): Client {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  const headers = { 'content-type': 'application/json' };
  const call = async () => {
    const answer = await pool.request({ method: 'POST', path: PATH, headers, body });
    return (await answer.body.arrayBuffer()).byteLength;
  };
  return { name: 'undici', call, close: () => pool.destroy() };
}

function ours(port: number, body: Buffer): Client {
  const client = new HttpClient({ maxReplyBytes: 1e9 });
  const options = { host: '127.0.0.1', port, method: 'POST', path: PATH, body: [body] } as const;
  const call = async () => (await client.call(options)).body.length;
  return { name: 'ours', call, close: () => client.close() };
}

async function inTurns(clients: readonly Client[], context: BenchContext): Promise<Row[]> {
  for (const { call } of clients) await load(call, context.seconds * PART.warmUp);
  const rounds = await calmRounds(ROUNDS, async () => {
    const round: Round[] = [];
    for (const { call } of clients) round.push(await load(call, context.seconds * PART.round));
    return round;
  });
  for (const { close } of clients) await close();
  const middle = (index: number, pick: (round: Round) => number) =>
    median(rounds.map((round) => pick(round[index] as Round)));
  const base = middle(0, ({ cpuMilliseconds }) => cpuMilliseconds);
  return clients.map(({ name }, index) => {
    const rate = middle(index, ({ callsPerSecond }) => callsPerSecond);
    const cpu = middle(index, ({ cpuMilliseconds }) => cpuMilliseconds);
    context.log(`${name}: ${rate.toFixed(0)} calls/s, CPU ${cpu.toFixed(3)} ms`);
    return { name, rate, cpu, ratio: base / cpu };
  });
}

async function load(call: Call, seconds: number): Promise<Round> {
  const from = performance.now();
  const until = from + seconds * 1_000;
  const before = process.cpuUsage();
  let calls = 0;
  const loop = async () => {
    for (; performance.now() < until; calls++) await call();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  const { user, system } = process.cpuUsage(before);
  return {
    callsPerSecond: calls / ((performance.now() - from) / 1_000),
    cpuMilliseconds: (user + system) / 1_000 / calls,
  };
}
