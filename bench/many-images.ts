/** Y: ten JPEGs of 512x512 in one body to three grids, 55 million bytes of float32. */
import type { Bench, Findings, Target } from './lib/bench.ts';
import { decodeTenAlone } from './lib/decode-alone.ts';
import { startGrpcJs, startPython } from './lib/front-ends.ts';
import { bytesAlone, inProcess, OURS, overGrpc, SOCKETS } from './lib/large-replies.ts';
import { tenPictures } from './lib/pictures.ts';
import { compareFrontEnds, find, type Measured, NO_MODEL, servingTable } from './lib/serving.ts';

export const manyImages: Bench = {
  name: 'many-images',
  question: 'Ten pictures a request: how fast are replies of 52 MB?',
  async run(context): Promise<Findings> {
    const body = await tenPictures();
    const request = (accept: string) => ({
      headers: { 'content-type': 'application/octet-stream', accept },
      body,
    });
    const others = [overGrpc('Y'), inProcess('Y')];
    const npy = await compareFrontEnds(context, {
      baseline: ['Python, gRPC', () => startPython('Y', 'grpc')],
      others,
      request: request('application/x-npy'),
      inFlight: [1],
    });
    const npz = await compareFrontEnds(context, {
      baseline: ['grpc-js and sharp', () => startGrpcJs('Y')],
      others,
      request: request('application/x-npz'),
      inFlight: [1],
    });
    const { bytes, sockets } = await bytesAlone(context, 'Y');
    const decode = await decodeTenAlone(body);
    context.log(`decode alone: ${decode.toFixed(1)} ms`);
    const bars = [...npy, ...npz].map(({ name, latency, responseBytes }, index) => ({
      name: `${name}, ${index < npy.length ? 'npy' : 'npz'}`,
      value: responseBytes ? latency.p50 : Number.NaN,
    }));
    return {
      tables: [servingTable('npy', npy), servingTable('npz', npz)],
      charts: [
        {
          title: 'Ten pictures to 52 MB of float32, 1 in flight',
          conditions: NO_MODEL,
          unit: 'ms, median',
          bars: [{ name: SOCKETS, value: sockets }, ...bars],
        },
      ],
      targets: targets({ npy, npz, sockets, decode }),
      notes: [
        `Ten JPEGs of 512x512 in ${body.length.toLocaleString('en-US')} bytes become uint8 [10,512,512,3], 7.9 MB, and the model server answers ${bytes.toLocaleString('en-US')} bytes at once. The answer's bytes alone take ${sockets.toFixed(1)} ms through two bare socket hops; decoding the ten JPEGs one after another with libjpeg-turbo, and nothing else, takes ${decode.toFixed(1)} ms.`,
      ],
    };
  },
};

interface Parts {
  readonly npy: readonly Measured[];
  readonly npz: readonly Measured[];
  readonly sockets: number;
  /** Milliseconds of decoding the ten pictures on one core. */
  readonly decode: number;
}

function targets({ npy, npz, sockets, decode }: Parts): Target[] {
  const ratio = (measured: readonly Measured[], limit: number) =>
    (find(measured, OURS, 1)?.latency.p50 ?? Number.NaN) / limit;
  const target = (what: string, measured: number): Target => ({
    what,
    bound: 'at most',
    target: 2,
    measured,
    unit: 'x',
  });
  return [
    target('Ten pictures, npy: time against two bare socket hops', ratio(npy, sockets)),
    target('Ten pictures, npz: time against two bare socket hops', ratio(npz, sockets)),
    target(
      'Ten pictures, npy: time against JPEG decode alone and two bare socket hops',
      ratio(npy, sockets + decode),
    ),
  ];
}
