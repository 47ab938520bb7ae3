/**
 * A call of the model server, in this process alone: the runtime's own clients beside node:http, node:http2, grpc-js
 * and undici, so that the day is seen on which one of those does as well.
 */
import { encodePredictRequest, numericTensor } from '@sagemaker-tfs/tensors';
import type { Bench, BenchContext, Findings, ResultTable, Row } from './lib/bench.ts';
import { calmRounds } from './lib/calm-rounds.ts';
import { columns } from './lib/columns.ts';
import { startCanned } from './lib/front-ends.ts';
import { jsonRow } from './lib/json-row.ts';
import { median } from './lib/median.ts';
import { grpcClients, type ModelServerClient, restClients } from './lib/model-server-clients.ts';

const ROUNDS = 3;
/** Parts of a window: what each is warmed up for, and what a round takes. */
const PART = { warmUp: 1, round: 1 / 2 };

/** Figures of one round. */
interface Round {
  readonly callsPerSecond: number;
  readonly cpuMilliseconds: number;
}

/** What is sent and read: a case of the canned model server. */
interface Exchange {
  readonly title: string;
  readonly canned: string;
  readonly inFlight: number;
  readonly clients: (ports: {
    readonly restPort: number;
    readonly grpcPort: number;
  }) => ModelServerClient[];
}

const JSON_BODY = jsonRow();

const EXCHANGES: readonly Exchange[] = [
  {
    title: `REST: ${JSON_BODY.length.toLocaleString('en-US')} bytes of JSON there and as many back`,
    canned: 'J',
    inFlight: 8,
    clients: ({ restPort }) => restClients(restPort, JSON_BODY),
  },
  {
    title: 'gRPC: a picture of 602 KB there, 4 KB back',
    canned: 'S',
    inFlight: 8,
    clients: ({ grpcPort }) => grpcClients(grpcPort, predictRequest('image', 'float32', 224)),
  },
  {
    title: 'gRPC: a picture of 1.2 MB there, 29 MB back',
    canned: 'B',
    inFlight: 2,
    clients: ({ grpcPort }) => grpcClients(grpcPort, predictRequest('input_tensor', 'uint8', 640)),
  },
];

function predictRequest(input: string, dtype: 'float32' | 'uint8', side: number): Buffer {
  const bytes = new Uint8Array(side * side * 3 * (dtype === 'float32' ? 4 : 1));
  return Buffer.concat(
    encodePredictRequest({
      model: { name: 'model' },
      signature: 'serving_default',
      inputs: { [input]: numericTensor(dtype, [1, side, side, 3], bytes) },
    }),
  );
}

const COLUMNS = columns({
  name: 'Client',
  rate: 'Calls/s',
  cpu: 'CPU of the client, ms a call',
  ratio: 'CPU of the baseline over its own',
});

export const modelServerCall: Bench = {
  name: 'model-server-call',
  question: 'A call of the model server: what does the client alone cost?',
  async run(context): Promise<Findings> {
    const tables: ResultTable[] = [];
    for (const exchange of EXCHANGES) tables.push(await compared(exchange, context));
    return { tables };
  },
};

async function compared(exchange: Exchange, context: BenchContext): Promise<ResultTable> {
  const server = await startCanned(exchange.canned);
  const clients = exchange.clients(server);
  const title = `${exchange.title}, ${exchange.inFlight} in flight (baseline: ${clients[0]?.name})`;
  context.log(title);
  try {
    return { title, columns: COLUMNS, rows: await inTurns(clients, exchange.inFlight, context) };
  } finally {
    for (const { close } of clients) await close();
    await server.stop();
  }
}

async function inTurns(
  clients: readonly ModelServerClient[],
  inFlight: number,
  context: BenchContext,
): Promise<Row[]> {
  const run = (client: ModelServerClient, part: number) =>
    load(client, inFlight, context.seconds * part);
  for (const client of clients) await run(client, PART.warmUp);
  const rounds = await calmRounds(ROUNDS, async () => {
    const round: Round[] = [];
    for (const client of clients) round.push(await run(client, PART.round));
    return round;
  });
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

async function load(
  { call }: ModelServerClient,
  inFlight: number,
  seconds: number,
): Promise<Round> {
  const from = performance.now();
  const until = from + seconds * 1_000;
  const before = process.cpuUsage();
  let calls = 0;
  const loop = async () => {
    for (; performance.now() < until; calls++) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const { user, system } = process.cpuUsage(before);
  return {
    callsPerSecond: calls / ((performance.now() - from) / 1_000),
    cpuMilliseconds: (user + system) / 1_000 / calls,
  };
}
