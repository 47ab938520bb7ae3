/** The load of batch transform: 64 requests in flight before a model server that takes 31 calls, against one without a limit. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Findings } from './lib/bench.ts';
import { startRuntimeOn } from './lib/front-ends.ts';
import { ROOT } from './lib/programs.ts';
import { type Contender, compareFrontEnds, find, servingTable } from './lib/serving.ts';
import { temporaryDirectory } from './lib/temporary.ts';

const IN_FLIGHT = 64;
const BUSY = join(ROOT, 'test', 'fixtures', 'models', 'busy');
/** Rounds of the model's loop. */
const BODY = Buffer.from(JSON.stringify({ inputs: 2000 }));
const UNLIMITED = 'all 64 calls at once';
const QUOTA = '16 calls at once, 48 wait in the runtime';

/** 16 calls and the reserve for probes make `--grpc_max_threads=32`. One thread waits, so the quota is 31. */
function contender(name: string, calls: number): Contender {
  return [
    name,
    async () => {
      const directory = temporaryDirectory();
      cpSync(BUSY, join(directory, 'busy'), { recursive: true });
      return startRuntimeOn(directory, { SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: String(calls) });
    },
  ];
}

export const inFlight: Bench = {
  name: 'in-flight',
  question: 'Does a limit on calls to the model server cost throughput (64 in flight)?',
  async run(context): Promise<Findings> {
    const measured = await compareFrontEnds(context, {
      baseline: contender(UNLIMITED, IN_FLIGHT),
      others: [contender(QUOTA, 16)],
      request: { headers: { 'content-type': 'application/json' }, body: BODY },
      inFlight: [IN_FLIGHT],
    });
    const ratio = find(measured, QUOTA, IN_FLIGHT)?.ratio ?? Number.NaN;
    return {
      tables: [servingTable('A model that computes, gRPC', measured)],
      targets: [
        {
          what: 'Requests a second with 16 calls at once, against no limit',
          bound: 'at least',
          target: 0.95,
          measured: ratio,
          unit: 'x',
        },
      ],
      notes: [
        'TensorFlow Serving refuses calls beyond its gRPC threads, so the runtime sends no more than `SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT` and keeps the rest. A refused request would end the benchmark: every answer must be 200.',
      ],
    };
  },
};
