/** What `estimate` says of the roads, beside the same runs replayed event by event. */
import {
  estimate,
  LOG_BYTES,
  PACKING_TYPE,
  type Workload,
} from 'sagemaker-tfs/development/estimate';
import shipped from '../../prices/us-east-1.json' with { type: 'json' };
import {
  INSTANCE_TYPE,
  OUTPUT_BYTES,
  REPLAYED_SHARDS,
  SPOT_LIFE_HOURS,
  SPOT_PRICE,
  SPREAD,
  START_MINUTES,
  TILES,
} from './assumptions.ts';
import type { Measured } from './measured.ts';
import { type Replayed, type Road, type Run, replay } from './replay.ts';
import { type Row, reportText } from './report.ts';

const prices = { ...shipped, currency: 'USD' as const };

/** Part of the images that fail. */
const FAILED = 0.001;
const PACKED_PER_SECOND = 1_000;
const GB = 1024 ** 3;

/** One road, both ways. */
interface Compared {
  readonly name: string;
  readonly replayed: Replayed;
  /** Of the run itself. */
  readonly hours: { readonly replayed: number; readonly estimated: number };
  /** US dollars of what a replay counts: instances, packing, calls of the run, logs, and what failed once more. */
  readonly dollars: { readonly replayed: number; readonly estimated: number };
}

/** A road and how it is taken. */
interface Case {
  readonly name: string;
  readonly road: Road;
  readonly instances: number;
  readonly shards?: Run['shards'];
  readonly spot?: boolean;
}

const CASES: readonly Case[] = [
  { name: 'one tile an object, one job', road: 'batch', instances: 2 },
  {
    name: `one tile an object, shards of ${REPLAYED_SHARDS.images / 1e6} million, ${REPLAYED_SHARDS.atOnce} at once`,
    road: 'batch',
    instances: 2,
    shards: REPLAYED_SHARDS,
  },
  { name: 'packed, packing included', road: 'packed', instances: 2 },
  { name: 'worker on 2 spot instances', road: 'worker', instances: 2, spot: true },
  { name: 'worker on 20 spot instances', road: 'worker', instances: 20, spot: true },
];

/** @param rows of the simulation, whose rates the runs have */
export function compareAll(
  measured: Measured,
  rows: readonly Row[],
  images: number = TILES,
): Compared[] {
  const [batch, packed] = ['one tile an object', 'TFRecord, 64 MB'].map((name) =>
    rows.find((row) => row.packing.name === name && row.instances === 2),
  );
  if (!batch || !packed) throw new Error('the simulation lacks the rows of two instances');
  const { imagesPerObject } = packed.packing;
  return CASES.map((one) => {
    // A worker's model takes what waits as one batch, as that of packed files does.
    const { throughput, instances } = one.road === 'batch' ? batch : packed;
    return compare(one, measured, { images, imagesPerObject, rate: throughput / instances });
  });
}

function compare(
  { name, road, instances, shards, spot = false }: Case,
  { imageBytes: inputBytes }: Measured,
  { images, imagesPerObject, rate }: { images: number; imagesPerObject: number; rate: number },
): Compared {
  const work: Workload = {
    images,
    inputBytes,
    imagesPerObject,
    outputBytes: OUTPUT_BYTES,
    secondsPerImage: 1 / rate,
    instanceCount: instances,
    packedPerSecond: PACKED_PER_SECOND,
    objectsPerJob: shards?.images ?? 0,
    concurrentJobs: shards?.atOnce ?? 1,
    startMinutes: START_MINUTES,
    endpointUse: 1,
    failed: FAILED,
    months: 1,
    kms: 'none',
    logBytes: LOG_BYTES,
    nat: false,
  };
  const hour = prices.instanceHour[INSTANCE_TYPE] * (spot ? SPOT_PRICE : 1);
  const { hours, costs } = estimate(road, work, INSTANCE_TYPE, hour, prices);
  const perObject = road === 'packed' ? imagesPerObject : 1;
  const run = { images, rate, instances, failed: FAILED, spot, ...(shards && { shards }) };
  const replayed = replay({ ...run, road, imagesPerObject: perObject });
  const packing = road === 'packed' ? packed(images, imagesPerObject) : 0;
  const { instances: main, packing: ofPacking, requests, logs, again } = costs;
  return {
    name,
    replayed,
    hours: { replayed: replayed.hours, estimated: hours },
    dollars: {
      replayed: dollarsOf(replayed, hour) + packing,
      estimated: main + ofPacking + requests + logs + again,
    },
  };
}

/** US dollars of a worker that packs, alone. */
function packed(images: number, imagesPerPart: number): number {
  const run = { images, imagesPerPart, rate: PACKED_PER_SECOND, instances: 1, imagesPerObject: 1 };
  const replayed = replay({ ...run, road: 'worker', failed: 0, spot: false });
  return dollarsOf(replayed, prices.instanceHour[PACKING_TYPE]);
}

function dollarsOf(
  { instanceHours, againHours, gets, puts, lists, logged }: Replayed,
  hour: number,
): number {
  const { s3, logs } = prices;
  const calls = gets * s3.getRequests1000 + puts * s3.putRequests1000 + lists * s3.listRequests1000;
  const ofLog = ((logged * LOG_BYTES) / GB) * (logs.ingestedGB + logs.storedGBMonth);
  return (instanceHours + againHours) * hour + calls / 1_000 + ofLog;
}

const part = ({ replayed, estimated }: Compared['dollars']) => estimated / replayed - 1;
const percentOf = (value: number) => `${(value * 100).toFixed(1)}%`;
const percent = (value: number) => `${value < 0 ? '-' : '+'}${percentOf(Math.abs(value))}`;

/** Most that an estimate is off, as a part. */
export function mostOff(compared: readonly Compared[], of: 'hours' | 'dollars'): number {
  return Math.max(...compared.map((one) => Math.abs(part(one[of]))));
}

/** All that the document shows. */
export function documentText(measured: Measured, rows: readonly Row[]): string {
  return `${reportText(measured, rows)}\n\n${comparisonText(compareAll(measured, rows))}`;
}

function comparisonText(compared: readonly Compared[]): string {
  const lines = compared.map(({ name, hours, dollars, replayed }) =>
    [
      name,
      hours.replayed.toFixed(1),
      hours.estimated.toFixed(1),
      percent(part(hours)),
      dollars.replayed.toFixed(0),
      dollars.estimated.toFixed(0),
      percent(part(dollars)),
      replayed.failures.toLocaleString('en-US'),
      replayed.taken,
    ].join(' | '),
  );
  return [
    '`estimate` beside the same runs, replayed event by event: each instance starts at a time of its own and works at a speed of its own, shards come in waves behind a small first one, 1 in 1,000 fails and is asked about again, and spot instances are taken back and lose the part that they are at. Dollars are of instances, packing, calls of the run, logs and what is done again.',
    '',
    '| road | hours, replayed | hours, estimated | off by | $, replayed | $, estimated | off by | failed | instances taken |',
    `|${' --- |'.repeat(9)}`,
    ...lines.map((line) => `| ${line} |`),
    '',
    `- Assumed: sigmas of log-normals of ${SPREAD.start} for starts, ${SPREAD.instance} for instances and ${SPREAD.piece} for 10,000 tiles; a spot instance lives ${SPOT_LIFE_HOURS} hours (mean) and costs ${SPOT_PRICE * 100}%.`,
    `- Dollars are off by ${percentOf(mostOff(compared, 'dollars'))} at most, hours by ${percentOf(mostOff(compared, 'hours'))}. \`estimate\` leaves out that a run ends with its last instance, and what spot instances lose: the more instances and the shorter the run, the more that is of its hours, and hardly anything of its cost.`,
  ].join('\n');
}
