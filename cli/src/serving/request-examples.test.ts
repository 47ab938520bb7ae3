/** The requests that `inspect` prints are answered: each is sent as it stands, with curl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { inspectModel, requestExamples } from '@sagemaker-tfs/model-packaging';
import { useServedFixtures } from '../../../test/support/fixture-runtime.ts';

jest.setTimeout(120_000);

const MODELS = [
  'half_plus_two',
  'tf1_classifier',
  'keras_functional',
  'text_vocabulary',
  'default_inputs',
];

const served = useServedFixtures(MODELS);

test.each(MODELS)('every request for %s is answered, over gRPC and REST', async (name) => {
  const { models } = await inspectModel(join(served.folder, 'served', name));
  const newest = models[0]?.versions.at(-1);
  const graph = newest?.metaGraphs.find(({ tags }) => tags.join() === 'serve');
  const signatures = Object.entries(graph?.signatures ?? {}).filter(([key]) => key !== '');
  expect(signatures.length).toBeGreaterThan(0);
  for (const [key, signature] of signatures) {
    const { curl } = requestExamples(key, signature, newest?.exampleFeatures);
    for (const transport of ['grpc', 'rest']) {
      const attributes = `tfs-model-name=${name},tfs-transport=${transport}`;
      expect({ curl, status: statusOf(curl, attributes) }).toEqual({ curl, status: '200' });
    }
  }
});

function statusOf(curl: string, attributes: string): string {
  const header = 'X-Amzn-SageMaker-Custom-Attributes: ';
  const chosen = curl.includes(header)
    ? curl.replace(header, `${header}${attributes},`)
    : `${curl} -H '${header}${attributes}'`;
  const line = `${chosen.replace(/http:\S+/, `${served.url}/invocations`)} -o answer.json -w '%{http_code}'`;
  return execFileSync('bash', ['-c', line], { cwd: served.folder, encoding: 'utf8' });
}
