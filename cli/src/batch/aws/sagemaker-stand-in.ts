/** A SageMaker whose jobs take as long as a test wants; moto's end at once and cannot be stopped. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { refusal, requestProblems } from '../../../../test/service-models/requests.ts';
import { listening } from '../../../../test/support/listening.ts';

/** A running stand-in. */
export interface SageMakerStandIn {
  readonly url: string;
  /** Names of the operations that were called. */
  readonly calls: string[];
  close(): Promise<void>;
}

/** @param describe fields of the answer to Describe..., asked at every call */
export function startSageMaker(describe: () => object): Promise<SageMakerStandIn> {
  return startService((operation) => (operation.startsWith('Describe') ? describe() : {}));
}

/**
 * Any service of AWS that speaks JSON. It refuses what AWS's service models refuse.
 * @param answer asked at every other call; an error where it has a `__type`, and lost on its way if undefined
 */
export async function startService(
  answer: (operation: string, input: unknown) => object | undefined,
): Promise<SageMakerStandIn> {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    // AWS Batch names its operations in the path: `/v1/describejobs`.
    const named = String(request.headers['x-amz-target'] ?? request.url);
    const operation = named.replace(/^.*[./]/, '');
    calls.push(operation);
    const body = await text(request);
    const problems = requestProblems(request, body);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    const told = problems.length > 0 ? refusal(problems) : answer(operation, JSON.parse(body));
    if (!told) {
      request.socket.destroy();
      return;
    }
    response.statusCode = '__type' in told ? 400 : 200;
    response.end(JSON.stringify(told));
  });
  return { ...(await listening(server)), calls };
}
