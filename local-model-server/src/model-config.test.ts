import { temporaryFile } from '../test/temporary.ts';
import { readModelConfigFile, singleModelConfig } from './model-config.ts';

async function read(text: string) {
  return readModelConfigFile(await temporaryFile('models.config', text));
}

test('names, paths, policies and labels', async () => {
  const configs = await read(`
    # two models
    model_config_list: {
      config: {
        name: 'first', base_path: "/models/first", model_platform: "tensorflow"
        model_version_policy: { specific { versions: 1 versions: 1738108800 } }
        version_labels { key: 'stable' value: 1 }
        version_labels { key: 'canary' value: 1738108800 }
      },
      config { name: "second" base_path: "/models/" "second" model_type: TENSORFLOW
        model_version_policy < latest < num_versions: 2 > > }
      config { name: "third" base_path: "/models/third" model_platform: "tensorflow"
        model_version_policy { all {} } }
    }`);
  expect(configs).toEqual([
    {
      name: 'first',
      basePath: '/models/first',
      versionPolicy: { kind: 'specific', versions: [1n, 1738108800n] },
      labels: new Map([
        ['stable', 1n],
        ['canary', 1738108800n],
      ]),
    },
    {
      name: 'second',
      basePath: '/models/second',
      versionPolicy: { kind: 'latest', count: 2 },
      labels: new Map(),
    },
    { name: 'third', basePath: '/models/third', versionPolicy: { kind: 'all' }, labels: new Map() },
  ]);
});

test('one model by flags', () => {
  expect(singleModelConfig('default', '/models/m')).toEqual([
    {
      name: 'default',
      basePath: '/models/m',
      versionPolicy: { kind: 'latest', count: 1 },
      labels: new Map(),
    },
  ]);
  expect(() => singleModelConfig('default', 'models/m')).toThrow(
    'Expected model default to have an absolute path or URI; got base_path()=models/m',
  );
});

const config = (text: string): string => `model_config_list { config { ${text} } }`;
const valid = 'name: "a" base_path: "/a" model_platform: "tensorflow"';

test.each([
  [
    `model_config_list { config { ${valid} } config { ${valid} } }`,
    'Illegal to list model a multiple times',
  ],
  [
    config('name: "a" base_path: "a" model_platform: "tensorflow"'),
    'to have an absolute path or URI',
  ],
  [config('name: "a" base_path: "/a"'), 'ModelServerConfig::model_platform, model name is a'],
  [
    config('name: "a" base_path: "/a" model_platform: "caffe"'),
    'Model a requests unsupported platform caffe',
  ],
  [config(`${valid} model_type: TENSORFLOW`), 'Illegal setting both'],
  [config('nme: "a"'), "Invalid protobuf file: '"],
  ['model_config_list {', "Invalid protobuf file: '"],
  ['custom_model_config {}', 'does not yet support custom model config'],
])('%s is refused', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test('an empty file serves nothing', async () => {
  expect(await read('')).toEqual([]);
});

test('a file that is not there is named', async () => {
  await expect(readModelConfigFile('/none/models.config')).rejects.toThrow('/none/models.config');
});
