import { create } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { DEFAULT_SIGNATURE, tensorFromValues } from '@sagemaker-tfs/tensors';
import {
  ClassificationRequestSchema,
  ClassificationResponseSchema,
  ExampleSchema,
  GetModelMetadataRequestSchema,
  GetModelMetadataResponseSchema,
  GRPC_METHODS,
  MultiInferenceRequestSchema,
  MultiInferenceResponseSchema,
  RegressionRequestSchema,
  RegressionResponseSchema,
  SignatureDefMapSchema,
} from '@sagemaker-tfs/tensors/protos';
import { firstDifference } from '../../../test/fixtures/compare.ts';
import { fixtureModel, loadGoldens } from '../../../test/fixtures/index.ts';
import { modelConfigText } from '../../test/model-config-text.ts';
import { servableModels as models } from '../../test/servable-models.ts';
import {
  GrpcClient,
  grpcError,
  type ServerProcess,
  startServerProcess,
} from '../../test/server-process.ts';
import { temporaryFile } from '../../test/temporary.ts';

let server: ServerProcess;
let client: GrpcClient;

beforeAll(async () => {
  const names = new Map(models.map(({ name, basePath }) => [name, basePath]));
  const text = modelConfigText(
    [...names].map(([name, basePath]) => ({
      name,
      basePath,
      more: 'model_version_policy { all {} }',
    })),
  );
  const config = await temporaryFile('models.config', text);
  server = await startServerProcess([`--model_config_file=${config}`]);
  client = new GrpcClient(server);
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const x = (...values: number[]) => tensorFromValues('float32', [values.length, 1], values);
const half = { name: 'half_plus_two' };

describe('Predict', () => {
  const goldens = models.flatMap((model) =>
    loadGoldens(model).map(
      (golden) => [`${model.name}/${model.version} ${golden.signature}`, model, golden] as const,
    ),
  );

  test.each(goldens)('%s answers as Python TensorFlow does', async (_, model, golden) => {
    for (const { inputs, outputs, error } of golden.cases) {
      const { name, version } = model;
      const request = { model: { name, version }, signature: golden.signature, inputs };
      if (error) {
        const { code, details } = await grpcError(client.predict(request));
        expect(code).toBe(error.code);
        expect(details).toContain(error.message);
      } else {
        const reply = await client.predict(request);
        expect(firstDifference(reply.outputs, outputs ?? {}, golden.tolerance)).toBeUndefined();
        expect(reply.model).toEqual({ name, version });
        expect(reply.signature).toBe(golden.signature);
      }
    }
  });

  test('the newest version answers where the request names none', async () => {
    const reply = await client.predict({ model: half, signature: '', inputs: { x: x(2) } });
    expect(reply.model.version).toBe('2');
    expect(reply.signature).toBe(DEFAULT_SIGNATURE);
  });

  test('only the outputs asked for come back', async () => {
    const model = { name: 'multi_signature' };
    const golden = loadGoldens(fixtureModel(model.name)).find(
      ({ signature }) => signature === 'statistics',
    );
    const [name = ''] = Object.keys(golden?.cases[0]?.outputs ?? {});
    const reply = await client.predict({
      model,
      signature: 'statistics',
      inputs: golden?.cases[0]?.inputs ?? {},
      outputs: [name],
    });
    expect(Object.keys(reply.outputs)).toEqual([name]);
  });

  test.each([
    [
      { model: { name: 'nobody' } },
      status.NOT_FOUND,
      'Servable not found for request: Latest(nobody)',
    ],
    [
      { model: { ...half, version: '7' } },
      status.NOT_FOUND,
      'Servable not found for request: Specific(half_plus_two, 7)',
    ],
    [
      { model: { ...half, label: 'canary' } },
      status.INVALID_ARGUMENT,
      'Unrecognized servable version label: canary',
    ],
    [
      { signature: 'other' },
      status.FAILED_PRECONDITION,
      'Serving signature key "other" not found.',
    ],
    [
      { inputs: {} },
      status.INVALID_ARGUMENT,
      'input size does not match signature: 0!=1 len({}) != len({x}). Sent extra: {}. Missing but required: {x}.',
    ],
    [
      { inputs: { z: x(1) } },
      status.INVALID_ARGUMENT,
      // The text ends in a space, for which the client's nghttp2 drops its header.
      '',
    ],
    [
      { inputs: { x: tensorFromValues('int64', [1, 1], [1]) } },
      status.INVALID_ARGUMENT,
      'Expects arg[0] to be float but int64 is provided',
    ],
    [
      { outputs: ['z'] },
      status.INVALID_ARGUMENT,
      'output tensor alias not found in signature: z Outputs expected to be in the set {y}.',
    ],
    [{ outputs: ['y', 'y'] }, status.INVALID_ARGUMENT, 'duplicate output tensor alias: y'],
  ])('%j is refused', async (wrong, code, details) => {
    const request = { model: half, signature: '', inputs: { x: x(1) }, ...wrong };
    expect(await grpcError(client.predict(request))).toEqual({ code, details });
  });

  test('a request without a model spec, and bytes that are no request, are refused', async () => {
    const empty = await grpcError(client.call(GRPC_METHODS.predict, new Uint8Array(0)));
    expect(empty).toEqual({ code: status.INVALID_ARGUMENT, details: 'Missing ModelSpec' });
    const garbage = await grpcError(
      client.call(GRPC_METHODS.predict, Buffer.from('fffffffff0', 'hex')),
    );
    expect(garbage).toEqual({ code: status.INTERNAL, details: '' });
    const unknown = await grpcError(client.call('/tensorflow.serving.Nothing', new Uint8Array(0)));
    expect(unknown).toEqual({ code: status.UNIMPLEMENTED, details: '' });
  });

  test('a tensor whose bytes do not fill its shape is named', async () => {
    const tensor = { dtype: 'float32', shape: [5], bytes: new Uint8Array(3) } as const;
    const call = client.predict({ model: half, signature: '', inputs: { x: tensor } });
    const { code, details } = await grpcError(call);
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(details).toContain('tensor parsing error: x');
  });

  test('messages of 100 MB pass both ways', async () => {
    const count = 25_000_000;
    const tensor = {
      dtype: 'float32',
      shape: [count, 1],
      bytes: new Uint8Array(4 * count),
    } as const;
    const reply = await client.predict({ model: half, signature: '', inputs: { x: tensor } });
    expect(reply.outputs.y?.shape).toEqual([count, 1]);
  });
});

describe('Classify and Regress', () => {
  const example = (value: number) =>
    create(ExampleSchema, {
      features: { feature: { x: { kind: { case: 'floatList', value: { value: [value] } } } } },
    });
  const classifyMessages = {
    request: ClassificationRequestSchema,
    response: ClassificationResponseSchema,
  };
  const regressMessages = { request: RegressionRequestSchema, response: RegressionResponseSchema };

  const firstVersion = (signatureName: string) =>
    ({
      name: half.name,
      signatureName,
      versionChoice: { case: 'version', value: { value: 1n } },
    }) as const;

  test('Classify gives a class with a score for each example', async () => {
    const reply = await client.message(GRPC_METHODS.classify, classifyMessages, {
      modelSpec: firstVersion('classify_x_to_y'),
      input: { kind: { case: 'exampleList', value: { examples: [example(20), example(10)] } } },
    });
    const scores = reply.result?.classifications.map(({ classes }) =>
      classes.map(({ score }) => score),
    );
    expect(scores).toEqual([[12], [7]]);
  });

  test('Regress gives a value for each example, with features of the context', async () => {
    const reply = await client.message(GRPC_METHODS.regress, regressMessages, {
      modelSpec: firstVersion('regress_x_to_y'),
      input: {
        kind: {
          case: 'exampleListWithContext',
          value: { context: example(80), examples: [create(ExampleSchema), example(4)] },
        },
      },
    });
    expect(reply.result?.regressions.map(({ value }) => value)).toEqual([42, 4]);
  });

  test('no examples, and a signature that is not there, are refused', async () => {
    const empty = client.message(GRPC_METHODS.regress, regressMessages, {
      modelSpec: { name: half.name, signatureName: 'regress_x_to_y' },
    });
    expect(await grpcError(empty)).toEqual({
      code: status.INVALID_ARGUMENT,
      details: 'Input is empty.',
    });
    const unknown = client.message(GRPC_METHODS.classify, classifyMessages, {
      modelSpec: { name: half.name, signatureName: 'other' },
    });
    expect(await grpcError(unknown)).toEqual({
      code: status.INVALID_ARGUMENT,
      details: 'No signature was found with the name: other',
    });
  });
});

describe('MultiInference', () => {
  const messages = { request: MultiInferenceRequestSchema, response: MultiInferenceResponseSchema };
  const CLASSIFY = 'tensorflow/serving/classify';
  const REGRESS = 'tensorflow/serving/regress';
  const task = (signatureName: string, methodName: string, name = half.name) => ({
    modelSpec: {
      name,
      signatureName,
      versionChoice: { case: 'version', value: { value: 1n } },
    } as const,
    methodName,
  });
  const ask = (tasks: ReturnType<typeof task>[], values = [20, 10]) =>
    client.message(GRPC_METHODS.multiInference, messages, {
      tasks,
      input: {
        kind: {
          case: 'exampleList',
          value: {
            examples: values.map((value) =>
              create(ExampleSchema, {
                features: {
                  feature: { x: { kind: { case: 'floatList', value: { value: [value] } } } },
                },
              }),
            ),
          },
        },
      },
    });

  test('a result a task, in the order of the tasks', async () => {
    const { results } = await ask([
      task('regress_x_to_y', REGRESS),
      task('classify_x_to_y', CLASSIFY),
    ]);
    const [regressed, classified] = results.map(({ result }) => result);
    if (regressed?.case !== 'regressionResult') throw new Error(`a ${regressed?.case}`);
    if (classified?.case !== 'classificationResult') throw new Error(`a ${classified?.case}`);
    expect(regressed.value.regressions.map(({ value }) => value)).toEqual([12, 7]);
    const classes = classified.value.classifications.map(({ classes }) => classes);
    expect(classes.flat().map(({ score }) => score)).toEqual([12, 7]);
    expect(results.map(({ modelSpec }) => modelSpec)).toMatchObject([
      { name: half.name, signatureName: 'regress_x_to_y', versionChoice: { value: { value: 1n } } },
      {
        name: half.name,
        signatureName: 'classify_x_to_y',
        versionChoice: { value: { value: 1n } },
      },
    ]);
  });

  test.each([
    ['no tasks', [], 'ModelSpec has no name specified.'],
    [
      'two models',
      [task('regress_x_to_y', REGRESS), task('regress_x_to_y', REGRESS, 'digits')],
      'All ModelSpecs in a MultiInferenceRequest must access the same model name.',
    ],
    [
      'a second task without a model',
      [task('regress_x_to_y', REGRESS), task('classify_x_to_y', CLASSIFY, '')],
      'Found ModelSpec with an empty model name.',
    ],
    [
      'a signature twice',
      [task('regress_x_to_y', REGRESS), task('regress_x_to_y', REGRESS)],
      'Duplicate evaluation of signature: regress_x_to_y',
    ],
    [
      'a signature that is not there',
      [task('other', REGRESS)],
      'Requested signature not found in model graph: other',
    ],
  ])('%s: refused', async (_, tasks, details) => {
    expect(await grpcError(ask(tasks))).toEqual({ code: status.INVALID_ARGUMENT, details });
  });

  test('no examples, and other methods than Classify and Regress, are refused', async () => {
    expect(await grpcError(ask([task('regress_x_to_y', REGRESS)], []))).toEqual({
      code: status.INVALID_ARGUMENT,
      details: 'Input is empty.',
    });
    const predict = ask([task('serving_default', 'tensorflow/serving/predict')]);
    expect(await grpcError(predict)).toEqual({
      code: status.UNIMPLEMENTED,
      details: 'Unsupported signature method_name: tensorflow/serving/predict',
    });
  });
});

describe('GetModelMetadata', () => {
  const messages = {
    request: GetModelMetadataRequestSchema,
    response: GetModelMetadataResponseSchema,
  };

  test('packs every signature of the version', async () => {
    const reply = await client.message(GRPC_METHODS.getModelMetadata, messages, {
      modelSpec: { name: half.name },
      metadataField: ['signature_def'],
    });
    const packed = reply.metadata.signature_def;
    const map = packed && anyUnpack(packed, SignatureDefMapSchema);
    expect(map?.signatureDef.regress_x_to_y?.methodName).toBe('tensorflow/serving/regress');
    expect(reply.modelSpec?.versionChoice).toMatchObject({ case: 'version', value: { value: 2n } });
  });

  test('must be told which field', async () => {
    const none = client.message(GRPC_METHODS.getModelMetadata, messages, {
      modelSpec: { name: half.name },
    });
    expect((await grpcError(none)).details).toContain('must specify at least one metadata_field');
  });
});
