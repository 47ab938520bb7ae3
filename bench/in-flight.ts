/** The load of batch transform, 64 requests in flight: the model server gets some of them at a time, against all. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext, Findings } from './lib/bench.ts';
import { startRuntimeOn } from './lib/front-ends.ts';
import { ensureModel } from './lib/models.ts';
import { ROOT } from './lib/programs.ts';
import {
  type Contender,
  compareFrontEnds,
  find,
  type Request,
  servingTable,
} from './lib/serving.ts';
import { temporaryDirectory } from './lib/temporary.ts';

const IN_FLIGHT = 64;
/** Calls at a time that are tried against all. 16 and the reserve for probes make `--grpc_max_threads=32`, a quota of 31. */
const FEWER = [4, 8, 16, 32];
const QUOTA = 16;
/** Threads of the model server for calls that wait in the model. */
const RUNS = 128;

/** A model under that load. */
interface Subject {
  readonly title: string;
  readonly request: Request;
  readonly environment: Readonly<Record<string, string>>;
  model(): Promise<string>;
}

const COMPUTES: Subject = {
  title: 'A model that computes',
  model: async () => join(ROOT, 'test', 'fixtures', 'models', 'busy'),
  environment: {},
  // Rounds of the model's loop.
  request: {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ inputs: 2000 })),
  },
};

const WAITS: Subject = {
  title: 'A model that waits 50 ms, as on a GPU',
  model: async () => join(await ensureModel('waiting-tiles'), 'model'),
  environment: {
    SAGEMAKER_TFS_INTER_OP_PARALLELISM: String(RUNS),
    UV_THREADPOOL_SIZE: String(RUNS + 1),
  },
  request: {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ instances: [{ b64: pixel() }] })),
  },
};

/** A PNG of one pixel. */
function pixel(): string {
  return 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
}

const nameOf = (calls: number): string =>
  calls === IN_FLIGHT
    ? `all ${IN_FLIGHT} calls at once`
    : `${calls} calls at once, ${IN_FLIGHT - calls} wait in the runtime`;

function contender({ model, environment }: Subject, calls: number): Contender {
  return [
    nameOf(calls),
    async () => {
      const directory = temporaryDirectory();
      cpSync(await model(), join(directory, 'model'), { recursive: true });
      return startRuntimeOn(directory, {
        ...environment,
        SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: String(calls),
      });
    },
  ];
}

export const inFlight: Bench = {
  name: 'in-flight',
  question: 'How many calls should the model server get at a time (64 in flight)?',
  async run(context): Promise<Findings> {
    const computes = await sweep(context, COMPUTES);
    const waits = await sweep(context, WAITS);
    return {
      tables: [
        servingTable(`${COMPUTES.title}, gRPC`, computes),
        servingTable(`${WAITS.title}, gRPC`, waits),
      ],
      targets: [
        {
          what: `Requests a second of a model that computes, ${QUOTA} calls at once, against ${IN_FLIGHT}`,
          bound: 'at least',
          target: 0.95,
          measured: find(computes, nameOf(QUOTA), IN_FLIGHT)?.ratio ?? Number.NaN,
          unit: 'x',
        },
      ],
      notes: [
        'TensorFlow Serving refuses calls beyond its gRPC threads, so the runtime sends no more than `SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT` and keeps the rest. A refused request would end the benchmark: every answer must be 200.',
      ],
    };
  },
};

function sweep(context: BenchContext, subject: Subject) {
  return compareFrontEnds(context, {
    baseline: contender(subject, IN_FLIGHT),
    others: FEWER.map((calls) => contender(subject, calls)),
    request: subject.request,
    inFlight: [IN_FLIGHT],
  });
}
