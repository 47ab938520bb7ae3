/** A baseline that a drift monitor takes, of one capture. */
import { writeFileSync } from 'node:fs';
import { baselineOf, gatherer, parseCapture } from '@sagemaker-tfs/container/captures';

export function writeBaseline(file: string): void {
  const data = JSON.stringify({ instances: [1] });
  const endpointInput = { observedContentType: 'application/json', data, encoding: 'JSON' };
  const captures = gatherer();
  captures.add(parseCapture(JSON.stringify({ captureData: { endpointInput }, eventMetadata: {} })));
  writeFileSync(file, JSON.stringify(baselineOf(captures.gathered())));
}
