/** What `serve` prints before it starts: the signatures of the models, and a request to try. */
import { inspectModel, renderInspect } from '@sagemaker-tfs/model-packaging';

/** Signatures of a laid-out model with requests to `port`. */
export async function describeModels(directory: string, port: number): Promise<string> {
  const text = renderInspect(await inspectModel(directory));
  // The folder is a temporary one, which says nothing to people.
  return text.replaceAll(`${directory}/`, '').replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
}
