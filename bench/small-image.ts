/** S: one 20 KB JPEG to 1,000 floats, at one and at eight requests in flight. */
import { availableParallelism } from 'node:os';
import type { Bench, Findings, Target } from './lib/bench.ts';
import { decodeAndResizeAlone } from './lib/decode-alone.ts';
import { startGrpcJs, startOurs, startPython, startReal } from './lib/front-ends.ts';
import { pictureRequest, smallPicture } from './lib/pictures.ts';
import {
  type Contender,
  compareFrontEnds,
  find,
  frontEndChart,
  type Measured,
  NO_MODEL,
  rateRatio,
  servingTable,
} from './lib/serving.ts';

const PYTHON_GRPC = 'Python, gRPC, float32';
const PYTHON_REST = 'Python, REST';
const OURS_FLOAT = 'ours, gRPC, float32';
const OURS_UINT8 = 'ours, gRPC, uint8';
const IN_PROCESS = 'ours, in-process, uint8';
/** As many as the Python front end has workers. */
const PROCESSES = { SAGEMAKER_TFS_PROCESSES: String(availableParallelism()) };
const EACH_CORE = 'a process a core';
const OURS_UINT8_PROCESSES = `${OURS_UINT8}, ${EACH_CORE}`;
const OURS_FLOAT_PROCESSES = `${OURS_FLOAT}, ${EACH_CORE}`;
const IN_PROCESS_PROCESSES = `${IN_PROCESS}, ${EACH_CORE}`;
const IN_FLIGHT = [1, 8];
const BUSY = 8;

export const smallImage: Bench = {
  name: 'small-image',
  question: 'One small picture a request: how many a second, and at what cost?',
  async run(context): Promise<Findings> {
    const body = await smallPicture();
    const others: Contender[] = [
      [OURS_UINT8, () => startOurs('S8')],
      [OURS_UINT8_PROCESSES, () => startOurs('S8', PROCESSES)],
      [OURS_FLOAT_PROCESSES, () => startOurs('S', PROCESSES)],
      [
        IN_PROCESS_PROCESSES,
        () => startReal('ready-S8', { SAGEMAKER_TFS_BACKEND: 'in-process', ...PROCESSES }),
      ],
      ['grpc-js and sharp, uint8', () => startGrpcJs('S8')],
      ['Python, gRPC, uint8', () => startPython('S8', 'grpc')],
      [PYTHON_REST, () => startPython('S', 'rest')],
    ];
    const decode = () => decodeAndResizeAlone(body, 224, context.seconds / 2);
    const before = await decode();
    const measured = await compareFrontEnds(context, {
      baseline: [PYTHON_GRPC, () => startPython('S', 'grpc')],
      others,
      request: pictureRequest(body),
      inFlight: IN_FLIGHT,
    });
    // Before and after, so that a machine that others use too does not favor one.
    const alone = (before + (await decode())) / 2;
    return {
      tables: [servingTable('Requests', measured)],
      charts: [
        frontEndChart('rate', 'One 20 KB JPEG to 1,000 floats', NO_MODEL, measured, BUSY),
        frontEndChart('latency', 'One 20 KB JPEG to 1,000 floats', NO_MODEL, measured, 1),
      ],
      targets: targets(measured, alone),
      notes: [
        `A JPEG of ${body.length.toLocaleString('en-US')} bytes, 320x240, becomes [1,224,224,3]; the model server answers 1,000 floats at once and computes nothing; in-process, a graph does the same. The Python front end has a worker for each core, the others are one process where nothing else is said, and the targets compare the same number of processes. Decoding the JPEG with libjpeg-turbo and resizing it, and nothing else, takes ${alone.toFixed(2)} ms of CPU.`,
      ],
    };
  },
};

function targets(measured: readonly Measured[], decodeAlone: number): Target[] {
  const ratio = (ours: string, theirs: string) => rateRatio(measured, ours, theirs, BUSY);
  const cpu = find(measured, OURS_UINT8, BUSY)?.cpuMilliseconds ?? Number.NaN;
  return [
    {
      what: 'One picture, gRPC, graph takes uint8: requests/s against Python gRPC',
      bound: 'at least',
      target: 3,
      measured: ratio(OURS_UINT8_PROCESSES, PYTHON_GRPC),
      unit: 'x',
    },
    {
      what: 'One picture, gRPC, graph takes float32: requests/s against Python gRPC',
      bound: 'at least',
      target: 2,
      measured: ratio(OURS_FLOAT_PROCESSES, PYTHON_GRPC),
      unit: 'x',
    },
    {
      what: 'One picture, gRPC, graph takes uint8: requests/s against Python REST',
      bound: 'at least',
      target: 50,
      measured: ratio(OURS_UINT8_PROCESSES, PYTHON_REST),
      unit: 'x',
    },
    {
      what: 'One picture, in-process, graph takes uint8: requests/s against Python gRPC',
      bound: 'at least',
      target: 4,
      measured: ratio(IN_PROCESS_PROCESSES, PYTHON_GRPC),
      unit: 'x',
    },
    {
      what: 'One picture, graph takes uint8: front-end CPU beyond JPEG decode and resize alone',
      bound: 'at most',
      target: 0.7,
      measured: cpu - decodeAlone,
      unit: 'ms',
    },
  ];
}
