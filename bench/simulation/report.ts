/** The simulation's result as text and charts, for `docs/batch.md`. */

import prices from '../../prices/us-east-1.json' with { type: 'json' };
import { barChart } from '../lib/charts.ts';
import {
  GPU,
  INSTANCE_COUNTS,
  INSTANCE_TYPE,
  MAX_CONCURRENT_TRANSFORMS,
  NETWORK_GBIT,
  OUTPUT_BYTES,
  PAPER_MILLIONS_AN_HOUR,
  S3_LATENCY,
  S3_RATE,
  START_MINUTES,
  TILES,
  VCPUS,
} from './assumptions.ts';
import type { Measured } from './measured.ts';
import { bottleneck, type Outcome, type Packing, simulate } from './model.ts';

/** Payload of requests and size of shards, bytes. */
const PAYLOAD = 1024 ** 2;
const SHARD = 64 * 1024 ** 2;

/** One simulated job. */
export interface Row extends Outcome {
  readonly packing: Packing;
  readonly instances: number;
  readonly hours: number;
  readonly instanceCost: number;
  /** US dollars for GET, PUT and LIST. */
  readonly requestCost: number;
}

/** The ways that tiles may lie on S3. */
export function packings({ imageBytes, crcMs }: Measured): Packing[] {
  const fit = (bytes: number, framing: number) => Math.floor(bytes / (imageBytes + framing));
  const framed = (name: string, framingBytes: number, framingCpuMs: number): Packing => {
    const imagesPerRequest = fit(PAYLOAD, framingBytes);
    const requests = Math.floor(fit(SHARD, framingBytes) / imagesPerRequest);
    return {
      name,
      imagesPerRequest,
      imagesPerObject: imagesPerRequest * requests,
      framingBytes,
      framingCpuMs,
    };
  };
  const lengthPrefixed = fit(PAYLOAD, 4);
  const single = { imagesPerObject: 1, imagesPerRequest: 1, framingBytes: 0, framingCpuMs: 0 };
  return [
    { ...single, name: 'one tile an object, no server-side batching', serverBatching: false },
    { ...single, name: 'one tile an object' },
    // SageMaker does not cut this format: an object is one request.
    {
      name: 'length-prefixed, 1 MB',
      imagesPerObject: lengthPrefixed,
      imagesPerRequest: lengthPrefixed,
      framingBytes: 4,
      framingCpuMs: 0,
    },
    framed('RecordIO, 64 MB', 10, 0),
    framed('TFRecord, 64 MB', 16, crcMs),
  ];
}

/** Simulates every packing with every number of instances. */
export function simulateAll(measured: Measured): Row[] {
  const hour: number = prices.instanceHour[INSTANCE_TYPE];
  return packings(measured).flatMap((packing) =>
    INSTANCE_COUNTS.map((instances) => {
      const outcome = simulate(instances, packing, measured);
      const hours = TILES / outcome.throughput / 3_600 + START_MINUTES / 60;
      const objects = TILES / packing.imagesPerObject;
      const { getRequests1000, putRequests1000, listRequests1000 } = prices.s3;
      return {
        ...outcome,
        packing,
        instances,
        hours,
        instanceCost: hours * instances * hour,
        requestCost:
          (objects / 1_000) * (getRequests1000 + putRequests1000 + listRequests1000 / 1_000),
      };
    }),
  );
}

const percent = (part: number) => `${(part * 100).toFixed(0)}%`;
const whole = (value: number) => Math.round(value).toLocaleString('en-US');

/** Markdown of the result. */
export function reportText(measured: Measured, rows: readonly Row[]): string {
  const head =
    '| tiles on S3 | instances | tiles/s | hours | instances $ | S3 requests $ | total $ | GET/s | PUT/s | GPU | CPU | bottleneck |';
  const lines = rows.map((row) =>
    [
      row.packing.name,
      row.instances,
      whole(row.throughput),
      row.hours.toFixed(1),
      whole(row.instanceCost),
      row.requestCost.toFixed(row.requestCost < 100 ? 2 : 0),
      whole(row.instanceCost + row.requestCost),
      whole(row.gets),
      whole(row.puts),
      percent(row.use.GPU),
      percent(row.use.CPU),
      bottleneck(row),
    ].join(' | '),
  );
  return [
    `${whole(TILES)} tiles of ${whole(measured.imageBytes)} bytes on ${INSTANCE_TYPE}, ${MAX_CONCURRENT_TRANSFORMS} concurrent transforms.`,
    '',
    ...sources(measured),
    '',
    head,
    `|${' --- |'.repeat(12)}`,
    ...lines.map((line) => `| ${line} |`),
    '',
    ...conclusions(rows),
  ].join('\n');
}

/** Which numbers were measured, where and when, and which are assumed. */
export function sources(measured: Measured): string[] {
  const { model } = measured;
  const ms = (value: number) => `${value.toPrecision(2)} ms`;
  const gpu = (batchMs: number, imageMs: number) =>
    `${ms(batchMs)} a batch and ${ms(imageMs)} a tile on the GPU`;
  return [
    `- **Measured** ${measured.date} on ${measured.machine}: tiles of ${whole(measured.imageBytes)} bytes, ${ms(measured.decodeMs)} CPU to decode one, ${ms(measured.requestCpuMs)} for a request and ${ms(measured.imageCpuMs)} for each tile in it in the runtime, ${ms(measured.crcMs)} for a TFRecord's checksums. The instance's CPU is taken to be as fast.`,
    ...(model
      ? [
          `- **Measured** ${model.date} on ${model.where}: ${gpu(model.batchMs, model.imageMs)}, everything on its way included.`,
        ]
      : []),
    `- **Assumed** (\`bench/simulation/assumptions.ts\`): ${model ? '' : `${gpu(GPU.batchMs, GPU.imageMs)}, `}batches of at most ${GPU.maxBatch}, ${OUTPUT_BYTES} bytes an answer, ${VCPUS} CPUs and ${NETWORK_GBIT} Gbit/s an instance, S3 prefixes that take ${whole(S3_RATE.get)} GET and ${whole(S3_RATE.put)} PUT a second and answer in ${S3_LATENCY.getMs} and ${S3_LATENCY.putMs} ms, ${START_MINUTES} minutes to start.`,
    `- **Prices** of ${prices.asOf} in ${prices.region} (\`prices/us-east-1.json\`).`,
  ];
}

/** What the figures say, from the figures. */
function conclusions(rows: readonly Row[]): string[] {
  const single = rows.filter(
    ({ packing }) => packing.imagesPerObject === 1 && packing.serverBatching !== false,
  );
  const [paper] = rows;
  const packed = rows.filter(({ packing }) => packing.imagesPerObject > 1);
  const most = Math.max(...INSTANCE_COUNTS);
  const [least] = INSTANCE_COUNTS;
  const at = (list: readonly Row[], instances: number) =>
    list.filter((row) => row.instances === instances);
  const [few] = at(single, least);
  const [many] = at(single, most);
  const best = at(packed, most).reduce((a, b) => (b.hours < a.hours ? b : a));
  if (!few || !many || !paper) return [];
  return [
    `- Without server-side batching, ${paper.instances} instances do ${((paper.throughput * 3_600) / 1e6).toFixed(2)} million tiles an hour; the paper reports ${PAPER_MILLIONS_AN_HOUR}.`,
    `- One tile an object: ${most} instances are ${(few.hours / many.hours).toFixed(1)} times as fast as ${least}; what holds them up is ${bottleneck(many)}.`,
    `- The requests of small objects cost $${whole(few.requestCost)}, whatever the number of instances; in ${best.packing.name} shards $${best.requestCost.toFixed(2)}.`,
    `- The fastest with ${most} instances is ${best.packing.name}: ${best.hours.toFixed(1)} hours instead of ${many.hours.toFixed(1)}, held up by ${bottleneck(best)}.`,
  ];
}

/** Charts by file name: a bar for each packing and number of instances, named beside it. */
export function charts(measured: Measured, rows: readonly Row[]): Record<string, string> {
  const { batchMs, imageMs } = { ...GPU, ...measured.model };
  const conditions = `Simulated, not run: on each ${INSTANCE_TYPE} a process a core and ${MAX_CONCURRENT_TRANSFORMS} requests in flight; the model takes ${batchMs} ms a batch and ${imageMs} ms a tile.`;
  const chart = (title: string, unit: string, value: (row: Row) => number) => {
    const bars = INSTANCE_COUNTS.flatMap((count) =>
      rows
        .filter(({ instances }) => instances === count)
        .map((row) => ({
          name: `${count} instances, ${row.packing.name}`,
          value: Number(value(row).toFixed(2)),
        })),
    );
    return barChart({ title, conditions, unit, bars });
  };
  return {
    'batch-hours.svg': chart('120 million tiles: time', 'hours', ({ hours }) => hours),
    'batch-cost.svg': chart(
      '120 million tiles: cost of instances and S3 requests',
      'US dollars',
      (row) => row.instanceCost + row.requestCost,
    ),
    'batch-s3-rate.svg': chart(
      '120 million tiles: S3 requests',
      'GET and PUT a second',
      ({ gets, puts }) => gets + puts,
    ),
  };
}
