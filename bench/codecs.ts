/** The codecs alone, on one core: floats to JSON and npz, pictures to pixels. */

import { crc32 as zlibCrc32 } from 'node:zlib';
import jpegTurbo from '@julusian/jpeg-turbo';
import { crc32 } from '@node-rs/crc32';
import { decodeImage } from '@sagemaker-tfs/container/parts';
import { encodeNpz, toNested, writeTensorJson } from '@sagemaker-tfs/tensors';
import sharp from 'sharp';
import { CASES } from './canned/cases.ts';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { detectionPicture, smallPicture } from './lib/pictures.ts';

export const codecs: Bench = {
  name: 'codecs',
  question: 'The codecs alone: how fast on one core?',
  async run(context): Promise<Findings> {
    const json = jsonRows(context);
    const checksums = checksumRows(context);
    const pictures = [
      ...(await pictureRows(context, 'One picture, 320x240 to 224x224', await smallPicture(), 224)),
      ...(await pictureRows(
        context,
        'Detections, 800x600 to 640x640',
        await detectionPicture(),
        640,
      )),
    ];
    const rate = (name: string) =>
      Number(json.find((row) => row.name === name)?.rate ?? Number.NaN);
    return {
      tables: [
        {
          title: 'Writing 29 MB of float32 (baseline: JSON.stringify)',
          columns: columns({
            name: 'Writer',
            milliseconds: 'ms',
            megabytes: 'MB written',
            rate: 'MB/s',
            input: 'MB/s of float32 read',
            ratio: 'Time of the baseline over its own',
          }),
          rows: json,
        },
        {
          title: 'CRC-32 of 29 MB, as npz needs it (baseline: `zlib.crc32` of Node)',
          columns: columns({
            name: 'By',
            milliseconds: 'ms',
            rate: 'MB/s',
            ratio: 'Time of the baseline over its own',
          }),
          rows: checksums,
        },
        {
          title: 'Decoding a JPEG and resizing it (baseline: sharp)',
          columns: columns({
            picture: 'Picture',
            name: 'Decoder',
            cpu: 'CPU ms',
            ratio: 'CPU of the baseline over its own',
          }),
          rows: pictures,
        },
      ],
      charts: [
        {
          title: 'Floats to text, on one core',
          conditions:
            'No server, no model and nothing in flight: one process writes float32 values as JSON, in memory.',
          unit: 'MB/s of JSON',
          bars: [JSON_OURS, JSON_STRINGIFY].map((name) => ({ name, value: rate(name) })),
        },
      ],
      targets: [
        {
          what: 'JSON of floats on one core',
          bound: 'at least',
          target: 200,
          measured: rate(JSON_OURS),
          unit: 'MB/s',
        },
      ],
    };
  },
};

const JSON_OURS = 'writeTensorJson';
const JSON_STRINGIFY = 'JSON.stringify';

function jsonRows(context: BenchContext): Row[] {
  const outputs = (CASES.B as (typeof CASES)[string])().outputs;
  const tensors = Object.values(outputs);
  const bytes = tensors.reduce(
    (sum, tensor) => sum + ('bytes' in tensor ? tensor.bytes.length : 0),
    0,
  );
  const target = Buffer.alloc(bytes);
  const source = Buffer.alloc(bytes, 1);
  const writers: [string, () => number][] = [
    [JSON_OURS, () => tensors.reduce((sum, tensor) => sum + lengths(writeTensorJson(tensor)), 0)],
    [
      JSON_STRINGIFY,
      () => Buffer.byteLength(JSON.stringify(tensors.map((tensor) => toNested(tensor)))),
    ],
    ['encodeNpz', () => lengths(encodeNpz(outputs))],
    ['memcpy', () => source.copy(target)],
  ];
  const measured = writers.map(([name, write]) => ({ name, ...timed(write, context) }));
  const base = measured.find(({ name }) => name === JSON_STRINGIFY)?.milliseconds ?? Number.NaN;
  return measured.map(({ name, milliseconds, result }) => ({
    name,
    milliseconds,
    megabytes: result / 1e6,
    rate: result / 1e3 / milliseconds,
    input: bytes / 1e3 / milliseconds,
    ratio: base / milliseconds,
  }));
}

const CRC_BYTES = 29_000_000;

function checksumRows(context: BenchContext): Row[] {
  const bytes = Buffer.alloc(CRC_BYTES, 'float32');
  const measured = [
    { name: 'zlib.crc32', ...timed(() => zlibCrc32(bytes), context) },
    { name: '@node-rs/crc32, in npz and TFRecord', ...timed(() => crc32(bytes), context) },
  ];
  const base = measured[0]?.milliseconds ?? Number.NaN;
  return measured.map(({ name, milliseconds }) => ({
    name,
    milliseconds,
    rate: CRC_BYTES / 1e3 / milliseconds,
    ratio: base / milliseconds,
  }));
}

function lengths(chunks: Iterable<Uint8Array>): number {
  let sum = 0;
  for (const chunk of chunks) sum += chunk.byteLength;
  return sum;
}

/** Milliseconds of the fastest round: what else the machine does only adds. */
function timed(work: () => number, { quick }: BenchContext) {
  let milliseconds = Number.POSITIVE_INFINITY;
  let result = 0;
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    const from = performance.now();
    result = work();
    milliseconds = Math.min(milliseconds, performance.now() - from);
  }
  return { milliseconds, result };
}

async function pictureRows(
  context: BenchContext,
  picture: string,
  jpeg: Buffer,
  size: number,
): Promise<Row[]> {
  const wanted = { width: size, height: size };
  const decoders: [string, () => unknown][] = [
    ['ours', () => decodeImage(jpeg, wanted)],
    [
      'sharp',
      () => sharp(jpeg).resize(size, size, { fit: 'fill', kernel: 'linear' }).raw().toBuffer(),
    ],
    [
      'libjpeg-turbo, no resize',
      () => jpegTurbo.decompressSync(jpeg, { format: jpegTurbo.FORMAT_RGB }),
    ],
  ];
  const rows: { name: string; cpu: number }[] = [];
  for (const [name, decode] of decoders)
    rows.push({ name, cpu: await cpuMilliseconds(decode, context) });
  const base = rows.find(({ name }) => name === 'sharp')?.cpu ?? Number.NaN;
  return rows.map(({ name, cpu }) => ({ picture, name, cpu, ratio: base / cpu }));
}

async function cpuMilliseconds(work: () => unknown, { seconds }: BenchContext): Promise<number> {
  for (let round = 0; round < 10; round++) await work();
  const until = performance.now() + seconds * 300;
  const before = process.cpuUsage();
  let rounds = 0;
  for (; performance.now() < until; rounds++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / rounds;
}
