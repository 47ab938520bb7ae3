/** MobileNetV2 with 64 requests in flight: joined or not, over gRPC and in-process. */
import { availableParallelism } from 'node:os';
import type { Bench, Findings } from './lib/bench.ts';
import { startReal } from './lib/front-ends.ts';
import { pictureRequest, smallPicture } from './lib/pictures.ts';
import { type Contender, compareFrontEnds, frontEndChart, servingTable } from './lib/serving.ts';

const IN_FLIGHT = 64;
const CONDITIONS = `MobileNetV2 whole, random weights, one process serves; ${availableParallelism()} cores, no GPU.`;
const BATCHING = {
  SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
  SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '5000',
};
const QUEUE = { SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES: '1000' };
const IN_PROCESS = { SAGEMAKER_TFS_BACKEND: 'in-process' };

function contender(name: string, environment: Readonly<Record<string, string>>): Contender {
  return [name, () => startReal('mobilenet-uint8', environment)];
}

const size = (rows: number) => ({ SAGEMAKER_TFS_MAX_BATCH_SIZE: String(rows) });

export const batching: Bench = {
  name: 'batching',
  question: 'Does joining requests into batches pay (64 in flight)?',
  async run(context): Promise<Findings> {
    const request = pictureRequest(await smallPicture());
    const baseline = contender('gRPC, no batching', {});
    const others = [
      contender('gRPC, joined up to 8', { ...BATCHING, ...QUEUE, ...size(8) }),
      contender('gRPC, joined up to 32', { ...BATCHING, ...QUEUE, ...size(32) }),
      contender('in-process, no batching', IN_PROCESS),
      contender('in-process, joined up to 8', {
        ...IN_PROCESS,
        ...BATCHING,
        ...QUEUE,
        ...size(8),
      }),
      contender('in-process, joined up to 32', {
        ...IN_PROCESS,
        ...BATCHING,
        ...QUEUE,
        ...size(32),
      }),
    ];
    const measured = await compareFrontEnds(context, {
      baseline,
      others,
      request,
      inFlight: [IN_FLIGHT],
    });
    return {
      tables: [servingTable('MobileNetV2, uint8', measured)],
      charts: [frontEndChart('rate', 'MobileNetV2', CONDITIONS, measured, IN_FLIGHT)],
      notes: [
        `MobileNetV2 on ${availableParallelism()} cores and no GPU: a batch of 8 takes nearly 8 times as long as one picture, so that batching can save only what is spent around the graph. On a GPU measure with \`sagemaker-tfs tune\` against the endpoint. Where TensorFlow Serving is installed it is the model server here, else the local model server.`,
      ],
    };
  },
};
