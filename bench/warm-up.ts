/** The first request after a start, with and without warm-up requests in the archive. */
import { join } from 'node:path';
import { layOut } from '@sagemaker-tfs/model-packaging';
import type { Bench, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { startRuntimeOn } from './lib/front-ends.ts';
import { median } from './lib/median.ts';
import { ensureModel } from './lib/models.ts';
import { pictureRequest, smallPicture } from './lib/pictures.ts';
import { measure, type Request } from './lib/serving.ts';
import { temporaryDirectory } from './lib/temporary.ts';

const STARTS = { full: 2, quick: 1 };

export const warmUp: Bench = {
  name: 'warm-up',
  question: 'What do warm-up requests save the first caller?',
  async run(context): Promise<Findings> {
    const request = pictureRequest(await smallPicture());
    const rows: Row[] = [];
    for (const backend of ['grpc', 'in-process']) {
      for (const warmup of [false, true]) {
        const first: number[] = [];
        const later: number[] = [];
        for (let start = 0; start < (context.quick ? STARTS.quick : STARTS.full); start++) {
          const [one, then] = await firstAndLater(backend, warmup, request);
          first.push(one);
          later.push(then);
        }
        const row = {
          backend,
          warmup: warmup ? 'yes' : 'no',
          first: median(first),
          later: median(later),
        };
        context.log(
          `${backend}, warm-up ${row.warmup}: first ${row.first.toFixed(1)}, then ${row.later.toFixed(1)} ms`,
        );
        rows.push({ ...row, ratio: row.first / row.later });
      }
    }
    return {
      tables: [
        {
          title: 'MobileNetV2, ms',
          columns: columns({
            backend: 'Backend',
            warmup: 'Warm-up requests',
            first: 'First request after the start',
            later: 'Median of the next 20',
            ratio: 'First against the next',
          }),
          rows,
        },
      ],
      notes: [
        "The first request goes out as soon as `/ping` answers 200. Warm-up requests are made by `sagemaker-tfs package --warmup` and run by the model server, or in-process by the runtime, before it is healthy. What remains is the front end's own first request: threads, JIT.",
      ],
    };
  },
};

async function firstAndLater(
  backend: string,
  warmup: boolean,
  request: Request,
): Promise<[number, number]> {
  const directory = join(temporaryDirectory(), 'model');
  const source = join(await ensureModel('mobilenet-uint8'), 'model');
  await layOut({ source, ...(warmup ? { warmup: true } : {}) }, directory);
  const frontEnd = await startRuntimeOn(directory, { SAGEMAKER_TFS_BACKEND: backend });
  try {
    const milliseconds: number[] = [];
    for (let at = 0; at <= 20; at++) {
      const one = await measure('', frontEnd, request, {
        inFlight: 1,
        seconds: 0,
        warmUpSeconds: 0,
      });
      milliseconds.push(one.latency.p50);
    }
    return [milliseconds[0] as number, median(milliseconds.slice(1))];
  } finally {
    await frontEnd.stop();
  }
}
