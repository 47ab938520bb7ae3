/** What a model answers to its sample, through the runtime and the project's handler. */
import { join } from 'node:path';
import { predict } from '@sagemaker-tfs/client';
import type { SampleRequest } from '@sagemaker-tfs/model-packaging';
import { serveModel } from '../serving/serve-model.ts';

/** The answer's JSON. @throws PredictionError if the model refuses the sample */
export async function goldenAnswer(
  directory: string,
  { body, contentType }: SampleRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const served = await serveModel({
    source: join(directory, 'model'),
    handler: join(directory, 'inference.ts'),
    signal,
  });
  try {
    const target = { url: served.url };
    const answer = await predict(target, body, { contentType, accept: 'application/json', signal });
    return answer.json();
  } finally {
    await served.stop();
  }
}
