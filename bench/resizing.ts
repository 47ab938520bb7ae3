/** Resizing alone, by filter: our kernels against sharp's, in processor time. */

import { type Interpolation, resample } from '@sagemaker-tfs/container/parts';
import { placePicture } from '@sagemaker-tfs/tensors/placement';
import sharp from 'sharp';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { median } from './lib/median.ts';
import { detectionPicture, smallPicture } from './lib/pictures.ts';

type Kernel = 'nearest' | 'linear' | 'cubic' | 'lanczos3';

/** Each filter, and the kernel of sharp that comes nearest to it. */
const FILTERS: readonly (readonly [Interpolation, Kernel])[] = [
  [{ interpolation: 'nearest', antialias: false }, 'nearest'],
  [{ interpolation: 'bilinear', antialias: false }, 'linear'],
  [{ interpolation: 'bilinear', antialias: true }, 'linear'],
  [{ interpolation: 'bicubic', antialias: false }, 'cubic'],
  [{ interpolation: 'bicubic', antialias: true }, 'cubic'],
  [{ interpolation: 'lanczos3', antialias: false }, 'lanczos3'],
  [{ interpolation: 'lanczos3', antialias: true }, 'lanczos3'],
  [{ interpolation: 'area', antialias: false }, 'linear'],
];

export const resizing: Bench = {
  name: 'resizing',
  question: 'Resizing alone: what does each filter cost?',
  async run(context): Promise<Findings> {
    const rows = [
      ...(await rowsOf(context, 'One picture, 320x240 to 224x224', await smallPicture(), 224)),
      ...(await rowsOf(context, 'Detections, 800x600 to 640x640', await detectionPicture(), 640)),
    ];
    return {
      notes: [
        'Our kernels are WebAssembly, `nearest` is plain TypeScript. Both sides take turns; the median turn counts.',
      ],
      tables: [
        {
          title: "Resizing decoded pixels (baseline: sharp's kernel of that name)",
          columns: columns({
            picture: 'Picture',
            name: 'Filter',
            cpu: 'CPU ms',
            base: 'Of the baseline',
            ratio: 'CPU of the baseline over its own',
          }),
          rows,
        },
      ],
      targets: [
        {
          what: "Resizing decoded pixels, the slowest of all filters: CPU of sharp's over its own",
          bound: 'at least',
          target: 1,
          measured: Math.min(...rows.map(({ ratio }) => Number(ratio))),
          unit: 'x',
        },
      ],
    };
  },
};

async function rowsOf(
  context: BenchContext,
  picture: string,
  jpeg: Buffer,
  side: number,
): Promise<Row[]> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const pixels = { data, width, height, channels: 3 };
  const frame = { data: new Uint8Array(side * side * 3), width: side, height: side, channels: 3 };
  const placement = placePicture(pixels, frame, 'stretch');
  const raw = { width, height, channels: 3 } as const;
  const rows: Row[] = [];
  for (const [how, kernel] of FILTERS) {
    const ours = () => resample(pixels, frame, placement, how);
    const theirs = () =>
      sharp(data, { raw }).resize(side, side, { fit: 'fill', kernel }).raw().toBuffer();
    const { cpu, base } = await takeTurns(context, ours, theirs);
    const name = `${how.interpolation}${how.antialias ? ', antialias' : ''}`;
    rows.push({ picture, name, cpu, base, ratio: base / cpu });
    context.log(`${picture}, ${name}: ${cpu.toFixed(2)} ms, sharp ${base.toFixed(2)} ms`);
  }
  return rows;
}

const CALLS = 10;

async function takeTurns(
  { quick }: BenchContext,
  ours: () => unknown,
  theirs: () => unknown,
): Promise<{ readonly cpu: number; readonly base: number }> {
  const turns = { ours: [] as number[], theirs: [] as number[] };
  for (let turn = -1; turn < (quick ? 3 : 9); turn++) {
    const [cpu, base] = [await cpuOf(ours), await cpuOf(theirs)];
    // The first turn warms up.
    if (turn < 0) continue;
    turns.ours.push(cpu);
    turns.theirs.push(base);
  }
  return { cpu: median(turns.ours), base: median(turns.theirs) };
}

/** CPU milliseconds of one call. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < CALLS; call++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / CALLS;
}
