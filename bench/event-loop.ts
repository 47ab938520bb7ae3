/** How long `/ping` takes while four detection requests are in flight. */
import { availableParallelism } from 'node:os';
import { summarize } from 'sagemaker-tfs/development/output';
import { startChild } from '../tools/children.ts';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { calmRounds } from './lib/calm-rounds.ts';
import { columns } from './lib/columns.ts';
import { type FrontEnd, startGrpcJs, startOurs } from './lib/front-ends.ts';
import { detectionPicture, pictureRequest } from './lib/pictures.ts';
import { programPath } from './lib/programs.ts';
import { measure } from './lib/serving.ts';

const IN_FLIGHT = 4;
const JSON_TYPE = 'application/json';
/** So that the load outlasts the program that asks, with its start and warm-up. */
const LONGER_SECONDS = 2;
/** The median by its P99: a host that takes a processor away for a while spoils one of them. */
const ROUNDS = 3;
const TYPES = [JSON_TYPE, 'application/x-npz'];

export const eventLoop: Bench = {
  name: 'event-loop',
  question: 'Does /ping answer while large replies are made?',
  async run(context): Promise<Findings> {
    const body = await detectionPicture();
    const rows: Row[] = [];
    for (const [name, start, rounds] of [
      ['ours', () => startOurs('B'), ROUNDS],
      ['grpc-js, sharp, JSON.stringify', () => startGrpcJs('B'), 1],
    ] as const) {
      const frontEnd = await start();
      try {
        rows.push({ name, load: 'none', ...(await pings(context, frontEnd.url)) });
        for (const accept of TYPES) {
          const all = await calmRounds(rounds, () =>
            pingsUnderLoad(context, frontEnd, accept, body),
          );
          rows.push({ name, load: accept, ...medianRound(all) });
        }
      } finally {
        await frontEnd.stop();
      }
    }
    const p99 = (load: string) =>
      Number(rows.find((row) => row.name === 'ours' && row.load === load)?.p99);
    return {
      tables: [
        {
          title: `\`/ping\` while ${IN_FLIGHT} detection requests are in flight, ms`,
          columns: columns({
            name: 'Front end',
            load: 'Replies',
            requestsPerSecond: 'Replies/s',
            p50: 'P50',
            p95: 'P95',
            p99: 'P99',
            max: 'Max',
          }),
          rows,
        },
      ],
      targets: [
        {
          what: `/ping P99 while detections run at ${IN_FLIGHT} in flight, JSON`,
          bound: 'at most',
          target: 20,
          measured: p99(JSON_TYPE),
          unit: 'ms',
        },
        {
          what: `/ping P99 while detections run at ${IN_FLIGHT} in flight, npz`,
          bound: 'at most',
          target: 20,
          measured: p99('application/x-npz'),
          unit: 'ms',
        },
      ],
      notes: [
        `The program that asks is a process of its own, so that the load's own event loop adds nothing; it, the load, the model server and the front end share ${availableParallelism()} cores all the same.`,
      ],
    };
  },
};

/** Milliseconds, and what the front end answered meanwhile. */
type Pings = Awaited<ReturnType<typeof pings>> & { readonly requestsPerSecond: number };

function medianRound(rounds: readonly Pings[]): Pings {
  const sorted = [...rounds].sort((a, b) => a.p99 - b.p99);
  return sorted[sorted.length >> 1] as Pings;
}

async function pingsUnderLoad(
  context: BenchContext,
  frontEnd: FrontEnd,
  accept: string,
  body: Buffer,
): Promise<Pings> {
  const request = pictureRequest(body, accept);
  const seconds = context.seconds * 2;
  const [load, latency] = await Promise.all([
    measure('', frontEnd, request, {
      inFlight: IN_FLIGHT,
      seconds: seconds + LONGER_SECONDS,
      warmUpSeconds: 0,
    }),
    pings(context, frontEnd.url, seconds),
  ]);
  return { ...latency, requestsPerSecond: load.requestsPerSecond };
}

async function pings(context: BenchContext, url: string, seconds = context.seconds) {
  const child = startChild(process.execPath, [programPath('ping-loop'), url, String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) text += chunk.toString();
  const { p50, p95, p99, max } = summarize(JSON.parse(text) as number[]);
  context.log(`${url}/ping: P50 ${p50.toFixed(2)}, P99 ${p99.toFixed(2)} ms`);
  return { p50, p95, p99, max };
}
