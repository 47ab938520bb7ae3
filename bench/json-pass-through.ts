/** JSON rows of 1,000 floats in and out: against the Python front end, and against the model server's own REST. */
import type { Bench, Findings, Target } from './lib/bench.ts';
import { type FrontEnd, startCanned, startOurs, startPython, startReal } from './lib/front-ends.ts';
import { jsonRow } from './lib/json-row.ts';
import { startModelServer } from './lib/model-server.ts';
import {
  type Contender,
  compareFrontEnds,
  frontEndChart,
  NO_MODEL,
  rateRatio,
  servingTable,
} from './lib/serving.ts';

const OURS = 'ours, gRPC';
const OURS_REST = 'ours, REST';
const PYTHON_REST = 'Python, REST';
const ALONE = 'model server alone, REST';
const IN_FLIGHT = [1, 8];
const BUSY = 8;
const MULTIPLIES = 'The model multiplies 1,000 numbers by 1.1, in TensorFlow; one process serves.';
const REST = { SAGEMAKER_TFS_BACKEND: 'rest' };

export const jsonPassThrough: Bench = {
  name: 'json-pass-through',
  question: 'JSON rows of 1,000 floats in and out: what does the front end add?',
  async run(context): Promise<Findings> {
    const body = jsonRow();
    const request = { headers: { 'content-type': 'application/json' }, body };
    const canned: Contender[] = [
      [OURS, () => startOurs('J')],
      [OURS_REST, () => startOurs('J', REST)],
      ['Python, gRPC', () => startPython('J', 'grpc')],
      [ALONE, cannedAlone],
    ];
    const real: Contender[] = [
      [OURS, () => startReal('json-row')],
      [OURS_REST, () => startReal('json-row', REST)],
    ];
    const againstPython = await compareFrontEnds(context, {
      baseline: [PYTHON_REST, () => startPython('J', 'rest')],
      others: canned,
      request,
      inFlight: IN_FLIGHT,
    });
    const all = await compareFrontEnds(context, {
      baseline: [ALONE, () => startModelServer('json-row')],
      others: real,
      request,
      inFlight: IN_FLIGHT,
    });
    return {
      tables: [
        servingTable(
          'Before the canned model server, which neither reads nor writes a number',
          againstPython,
        ),
        servingTable('Before a real model, which multiplies by 1.1', all),
      ],
      charts: [
        frontEndChart('rate', '20 KB of JSON, nothing computed', NO_MODEL, againstPython, BUSY),
        frontEndChart('rate', '20 KB of JSON, a model that multiplies', MULTIPLIES, all, BUSY),
      ],
      targets: [
        target(
          'JSON rows, as installed (gRPC, one process): requests/s against Python REST',
          3,
          rateRatio(againstPython, OURS, PYTHON_REST, BUSY),
        ),
        target(
          "JSON rows over gRPC: requests/s against the model server's REST alone",
          0.8,
          rateRatio(all, OURS, ALONE, BUSY),
        ),
        target(
          "JSON rows over REST: requests/s against the model server's REST alone",
          0.8,
          rateRatio(all, OURS_REST, ALONE, BUSY),
        ),
      ],
      notes: [
        `The request has ${body.length.toLocaleString('en-US')} bytes. Over gRPC the front end reads the digits and writes digits; over REST it and the Python front end pass the text on. The Python front end has a worker for each core.`,
      ],
    };
  },
};

async function cannedAlone(): Promise<FrontEnd> {
  const canned = await startCanned('J');
  return {
    url: canned.url,
    path: '/v1/models/model:predict',
    pids: canned.pids,
    allPids: canned.pids,
    stop: canned.stop,
  };
}

function target(what: string, least: number, measured: number): Target {
  return { what, bound: 'at least', target: least, measured, unit: 'x' };
}
