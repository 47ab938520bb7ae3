/** The local model server, or the real one that `TEST_MODEL_SERVER_BIN` names, asked by Google's own stubs. */
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { chooseModelServer, freePortRange } from 'sagemaker-tfs/development/serving';
import { modelConfigText } from '../../local-model-server/test/model-config-text.ts';
import { fixtureModels } from '../../test/fixtures/index.ts';
import { answering, endChild, startChild } from '../../tools/children.ts';
import type { Oracle, Section } from './case.ts';

const LABELLED = 'version_labels { key: "stable" value: 1 }';

async function askByStubs({ python, scripts, out, size }: Oracle): Promise<void> {
  const fixtures = fixtureModels().filter(({ loadError }) => loadError === undefined);
  const basePaths = {
    ...Object.fromEntries(fixtures.map(({ name, basePath }) => [name, basePath])),
    ...TF1_EXPORTS,
  };
  const models = Object.entries(basePaths).map(([name, basePath]) => ({
    name,
    basePath,
    more: `model_version_policy { all {} } ${name === 'half_plus_two' ? LABELLED : ''}`,
  }));
  const [config, paths] = [join(out, 'models.config'), join(out, 'models.json')];
  await writeFile(config, modelConfigText(models));
  await writeFile(paths, JSON.stringify(basePaths));
  const { program, path, environment } = await chooseModelServer(searchPath());
  process.stderr.write(`Google's stubs ask ${program}\n`);
  const port = await freePortRange(2);
  const flags = [
    `--port=${port}`,
    `--rest_api_port=${port + 1}`,
    `--model_config_file=${config}`,
    '--allow_version_labels_for_unavailable_models=true',
  ];
  const env = { ...process.env, ...environment, PATH: path };
  const child = startChild('tensorflow_model_server', flags, { env, stdio: 'ignore' });
  try {
    await answering(`http://127.0.0.1:${port + 1}/v1/models/half_plus_two`, child);
    const oracle = [join(scripts, 'grpc_calls.py'), out, size, String(port), paths];
    await execa(python, oracle, { stdio: ['ignore', 'inherit', 'inherit'] });
  } finally {
    await endChild(child);
  }
}

function searchPath(): string {
  const { TEST_MODEL_SERVER_BIN: bin, PATH = '' } = process.env;
  return bin === undefined ? PATH : `${bin}${delimiter}${PATH}`;
}

const EXPORTS = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'tf1-exports');
const TF1_EXPORTS = {
  half_plus_three: join(EXPORTS, 'half_plus_three'),
};

/** What the stubs were answered. */
export const server: readonly Section[] = [
  {
    file: 'grpc_calls',
    title:
      "Google's gRPC stubs: predict, classify, regress, versions, labels, output filters, metadata, status, refusals",
    reference: "TensorFlow; codes and texts of TensorFlow Serving's sources",
    tolerance: 'floats within 1e-5, else every bit; the code and the text of a refusal',
    make: askByStubs,
    differs: ({ what, difference }) => (difference ? `${what}: ${difference}` : undefined),
  },
];
