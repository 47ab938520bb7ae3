/** B: one 100 KB JPEG to EfficientDet's eight outputs, 29 MB of float32, as JSON, npz and npy. */
import type { Bench, Findings, Target } from './lib/bench.ts';
import { startGrpcJs, startPython } from './lib/front-ends.ts';
import { bytesAlone, inProcess, OURS, overGrpc, SOCKETS } from './lib/large-replies.ts';
import { detectionPicture, pictureRequest } from './lib/pictures.ts';
import {
  compareFrontEnds,
  find,
  frontEndChart,
  type Measured,
  NO_MODEL,
  servingTable,
} from './lib/serving.ts';

const GRPC_JS = 'grpc-js, sharp, JSON.stringify';
const PYTHON_GRPC = 'Python, gRPC, json.dumps';

export const detection: Bench = {
  name: 'detection',
  question: 'Detection: how fast are replies of 29 MB?',
  async run(context): Promise<Findings> {
    const body = await detectionPicture();
    const ours = overGrpc('B');
    const grpcJs = [GRPC_JS, () => startGrpcJs('B')] as const;
    const json = await compareFrontEnds(context, {
      baseline: [PYTHON_GRPC, () => startPython('B', 'grpc')],
      others: [ours, inProcess('B'), grpcJs, ['Python, REST', () => startPython('B', 'rest')]],
      request: pictureRequest(body, 'application/json'),
      inFlight: [1],
    });
    const npz = await compareFrontEnds(context, {
      baseline: grpcJs,
      others: [ours, inProcess('B')],
      request: pictureRequest(body, 'application/x-npz'),
      inFlight: [1],
    });
    const npy = await compareFrontEnds(context, {
      baseline: ours,
      others: [inProcess('B')],
      request: pictureRequest(body, 'application/x-npy'),
      inFlight: [1],
    });
    const { bytes, sockets } = await bytesAlone(context, 'B');
    return {
      tables: [servingTable('JSON', json), servingTable('npz', npz), servingTable('npy', npy)],
      charts: [
        frontEndChart('latency', '29 MB of detections as JSON', NO_MODEL, json, 1),
        {
          title: '29 MB of detections as npz, 1 in flight',
          conditions: NO_MODEL,
          unit: 'ms, median',
          bars: [
            { name: SOCKETS, value: sockets },
            ...npz.map(({ name, latency }) => ({ name, value: latency.p50 })),
          ],
        },
      ],
      targets: targets({ json, npz, npy, sockets }),
      notes: [
        `A JPEG of ${body.length.toLocaleString('en-US')} bytes, 800x600, becomes uint8 [1,640,640,3]; the model server answers ${bytes.toLocaleString('en-US')} bytes at once. The same bytes through two bare socket hops, between three processes, take ${sockets.toFixed(1)} ms. Over REST the Python front end passes the model server's JSON on, which lies ready: nobody has to write digits in that row.`,
      ],
    };
  },
};

interface Parts {
  readonly json: readonly Measured[];
  readonly npz: readonly Measured[];
  readonly npy: readonly Measured[];
  readonly sockets: number;
}

function targets({ json, npz, npy, sockets }: Parts): Target[] {
  const p50 = (measured: readonly Measured[], name: string) =>
    find(measured, name, 1)?.latency.p50 ?? Number.NaN;
  return [
    {
      what: 'Detections, npz: time against two bare socket hops',
      bound: 'at most',
      target: 2,
      measured: p50(npz, OURS) / sockets,
      unit: 'x',
    },
    {
      what: 'Detections, npy: time against two bare socket hops',
      bound: 'at most',
      target: 2,
      measured: p50(npy, OURS) / sockets,
      unit: 'x',
    },
    {
      what: "Detections, JSON: times as fast as Python's gRPC and json.dumps",
      bound: 'at least',
      target: 15,
      measured: p50(json, PYTHON_GRPC) / p50(json, OURS),
      unit: 'x',
    },
  ];
}
