/** Real TensorFlow on models of the papers' shapes: what is left of the model's own speed. */

import { join } from 'node:path';
import { ensureLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import { numericTensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { residentBytes } from '../tools/process-stats.ts';
import type { Bench, BenchContext, Findings, Row, Target } from './lib/bench.ts';
import { calmRounds } from './lib/calm-rounds.ts';
import { columns } from './lib/columns.ts';
import { startReal } from './lib/front-ends.ts';
import { median } from './lib/median.ts';
import { type BenchModel, ensureModel } from './lib/models.ts';
import { detectionPicture, smallPicture, tenPictures } from './lib/pictures.ts';
import { measure } from './lib/serving.ts';

const THREE = ['detection_boxes', 'detection_scores', 'detection_classes'];
const ATTRIBUTES = 'x-amzn-sagemaker-custom-attributes';

interface Case {
  readonly name: string;
  readonly model: BenchModel;
  readonly input: string;
  readonly shape: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => Promise<Buffer>;
  /** Default: all. */
  readonly outputs?: readonly string[];
}

const IMAGE = { 'content-type': 'application/x-image' };
const CASES: readonly Case[] = [
  {
    name: 'MobileNetV2, uint8, JSON',
    model: 'mobilenet-uint8',
    input: 'image',
    shape: [1, 224, 224, 3],
    headers: IMAGE,
    body: smallPicture,
  },
  {
    name: 'Detection, 3 outputs, JSON',
    model: 'detection',
    input: 'input_tensor',
    shape: [1, 640, 640, 3],
    headers: { ...IMAGE, [ATTRIBUTES]: `tfs-outputs=${THREE.join('%2C')}` },
    body: detectionPicture,
    outputs: THREE,
  },
  {
    name: 'Detection, 8 outputs, npz',
    model: 'detection',
    input: 'input_tensor',
    shape: [1, 640, 640, 3],
    headers: { ...IMAGE, accept: 'application/x-npz' },
    body: detectionPicture,
  },
  {
    name: 'Detection, 8 outputs, JSON',
    model: 'detection',
    input: 'input_tensor',
    shape: [1, 640, 640, 3],
    headers: IMAGE,
    body: detectionPicture,
  },
  {
    name: 'Three grids, ten images, npy',
    model: 'grids',
    input: 'images',
    shape: [10, 512, 512, 3],
    headers: { 'content-type': 'application/octet-stream', accept: 'application/x-npy' },
    body: tenPictures,
  },
];

export const realModels: Bench = {
  name: 'real-models',
  question: "Real models: how much of the model's own speed is left?",
  async run(context): Promise<Findings> {
    const rows: Row[] = [];
    for (const one of CASES) rows.push(...(await rowsOf(one, context)));
    const ratio = (backend: string) =>
      Number(
        rows.find(
          ({ name, through }) => name === 'Detection, 3 outputs, JSON' && through === backend,
        )?.ratio,
      );
    const target = (backend: string): Target => ({
      what: `Detections, three outputs, JSON, ${backend}: time against the model's own`,
      bound: 'at most',
      target: 1.5,
      measured: ratio(backend),
      unit: 'x',
    });
    return {
      tables: [
        {
          title: 'One request in flight (baseline: the model alone)',
          columns: columns({
            name: 'Model and answer',
            through: 'Through',
            p50: 'P50 ms',
            p95: 'P95 ms',
            ratio: 'P50 against the model alone',
            megabytes: 'Resident MB, model included',
          }),
          rows,
        },
      ],
      targets: [target('grpc'), target('in-process')],
      notes: [
        "MobileNetV2 is whole, with random weights; the detection model has EfficientDet's eight outputs and the third YOLOv3's three grids, both on a small backbone. The model alone is a call of `TF_SessionRun` with ready tensors, outputs left where TensorFlow put them; the others begin with JPEGs and end with the answer's last byte.",
      ],
    };
  },
};

const BACKENDS = ['grpc', 'in-process'];
/** Rounds in which a backend and the model alone take turns, so that what else the machine does meets both. */
const ROUNDS = 3;
/** Parts of a window that a turn takes. */
const TURN = { alone: 1 / 4, served: 1 / 2 };
/** Of the runs of a turn, those that only warm up, and those that there are at least. */
const RUNS = { warmUp: 2, least: 5 };

/** Milliseconds, and how they compare. */
interface Round {
  readonly alone: number;
  readonly p50: number;
  readonly p95: number;
}

async function rowsOf(one: Case, context: BenchContext): Promise<Row[]> {
  const session = await SavedModelSession.load(join(await ensureModel(one.model), 'model', '1'), {
    library: await ensureLibrary(),
  });
  try {
    const rows: Row[] = [];
    const alone: number[] = [];
    for (const backend of BACKENDS) {
      const { rounds, megabytes } = await inTurns(one, backend, session, context);
      const middle = (pick: (round: Round) => number) => median(rounds.map(pick));
      const row = {
        name: one.name,
        through: backend,
        p50: middle(({ p50 }) => p50),
        p95: middle(({ p95 }) => p95),
        ratio: middle((round) => round.p50 / round.alone),
        megabytes,
      };
      context.log(`${row.name}, ${backend}: ${row.p50.toFixed(1)} ms, ${row.ratio.toFixed(2)}x`);
      rows.push(row);
      alone.push(...rounds.map((round) => round.alone));
    }
    const through = 'the model alone, in this process';
    return [{ name: one.name, through, p50: median(alone), ratio: 1 }, ...rows];
  } finally {
    await session.close();
  }
}

async function inTurns(
  one: Case,
  backend: string,
  session: SavedModelSession,
  context: BenchContext,
): Promise<{ rounds: Round[]; megabytes: number }> {
  const frontEnd = await startReal(one.model, { SAGEMAKER_TFS_BACKEND: backend });
  try {
    const request = { headers: one.headers, body: await one.body() };
    const load = (seconds: number) =>
      measure('', frontEnd, request, { inFlight: 1, seconds, warmUpSeconds: 0 });
    await load(context.seconds);
    const rounds = await calmRounds(ROUNDS, async (): Promise<Round> => {
      const alone = await modelAlone(one, session, context.seconds * TURN.alone);
      const { latency } = await load(context.seconds * TURN.served);
      return { alone, p50: latency.p50, p95: latency.p95 };
    });
    const resident = frontEnd.allPids().reduce((sum, pid) => sum + residentBytes(pid), 0);
    return { rounds, megabytes: resident / 1e6 };
  } finally {
    await frontEnd.stop();
  }
}

/** Milliseconds of a run of the graph with ready tensors, the median. */
async function modelAlone(
  { input, shape, outputs }: Case,
  session: SavedModelSession,
  seconds: number,
): Promise<number> {
  const elements = shape.reduce((product, size) => product * size, 1);
  const inputs: TensorMap = { [input]: numericTensor('uint8', shape, Buffer.alloc(elements, 100)) };
  const until = performance.now() + seconds * 1_000;
  const milliseconds: number[] = [];
  while (performance.now() < until || milliseconds.length < RUNS.least) {
    const from = performance.now();
    await session.run('serving_default', inputs, outputs ? { outputs } : {});
    milliseconds.push(performance.now() - from);
  }
  return median(milliseconds.slice(RUNS.warmUp));
}
