/** The types of every entry, as compilers of users are set. */
import type { Project } from './project.ts';

const USE = `
import { matchesGolden, fakeContext, startModel } from 'sagemaker-tfs/testing';
import { commandFile, containerDirectory } from 'sagemaker-tfs/files';
import { jsonBody, predict, PredictionError, type Answer } from 'sagemaker-tfs/client';
import { decodeImage, HttpError, numericTensor, type Context, type InputHandler, type OutputHandler } from 'sagemaker-tfs/handler';

export const inputHandler: InputHandler = async (data: Uint8Array, context: Context) => {
  if (context.requestContentType !== 'application/x-image') throw new HttpError(415, 'pictures only');
  context.log.info({ bytes: data.length }, 'a picture');
  const { data: pixels, height, width } = await decodeImage(data, { channels: 'gray' });
  return { image: numericTensor('uint8', [1, height, width, 1], pixels) };
};
export const outputHandler: OutputHandler = (result) => ({ outputs: Object.keys(result) });

export async function ask(): Promise<Answer> {
  const context = fakeContext({ requestContentType: 'application/json' });
  const paths: string[] = [commandFile(), containerDirectory(), context.modelName];
  const model = await startModel({ model: paths[0] ?? '' });
  matchesGolden('golden.json', (await model.post({ instances: [1] })).json());
  return predict({ endpointName: 'x' }, jsonBody({ instances: [1] })).catch((error: unknown) => {
    throw error instanceof PredictionError ? new Error(error.code) : error;
  });
}
`;

const API = `
import { inspectModel, packageModel, PackagingError, serveModel } from 'sagemaker-tfs';
export async function run(): Promise<string> {
  await inspectModel('model');
  const { url, stop } = await serveModel({ source: 'model' });
  await stop();
  const { sha256 } = await packageModel({ source: 'model', out: 'model.tar.gz', preprocess: { scale: 1 / 255 } });
  return url + sha256 + PackagingError.name;
}
`;

const CDK = `
import { defineConfig, ModelData, RealtimeEndpoint, ServingImage, TensorFlowModel } from '@sagemaker-tfs/cdk';
import { App, Stack } from 'aws-cdk-lib/core';
export const config = defineConfig({ models: { digits: { model: 'model', endpoint: { instanceType: 'ml.c6i.xlarge' } } } });
const stack = new Stack(new App(), 'Digits');
const model = new TensorFlowModel(stack, 'Model', {
  image: new ServingImage(stack, 'Image'),
  modelData: ModelData.fromDirectory('model', { handler: 'inference.ts' }),
});
new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model, instanceType: 'ml.c6i.xlarge' }] });
`;

const STRICTEST = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noUnusedLocals: true,
  isolatedModules: true,
  skipLibCheck: false,
};

const ES = { module: 'nodenext', verbatimModuleSyntax: true };

/** Settings by name, and the files that are compiled under them. */
const COMPILATIONS: Readonly<Record<string, { options: object; files: readonly string[] }>> = {
  // As `tsc --init` writes it.
  init: {
    options: { module: 'nodenext', target: 'esnext', types: [], strict: true, skipLibCheck: true },
    files: ['use.mts', 'api.mts', 'cdk.mts', 'use.cts'],
  },
  nodenext: { options: { ...STRICTEST, ...ES }, files: ['use.mts', 'api.mts'] },
  node16: { options: { ...STRICTEST, module: 'node16' }, files: ['use.mts', 'api.mts', 'use.cts'] },
  bundler: {
    options: { ...STRICTEST, module: 'preserve', moduleResolution: 'bundler' },
    files: ['use.mts', 'api.mts'],
  },
  constructs: {
    options: { ...STRICTEST, module: 'nodenext', skipLibCheck: true },
    files: ['cdk.mts', 'cdk.cts'],
  },
  // The CDK's own declarations do not pass with exact optional properties.
  declarations: {
    options: { ...STRICTEST, module: 'nodenext', exactOptionalPropertyTypes: false },
    files: ['cdk.mts'],
  },
};

/** @throws Error with the compiler's messages */
export async function checkTypes(project: Project): Promise<void> {
  project.write({
    'types/use.mts': USE,
    'types/use.cts': USE,
    'types/api.mts': API,
    'types/cdk.mts': CDK,
    'types/cdk.cts': CDK,
  });
  for (const [name, { options, files }] of Object.entries(COMPILATIONS)) {
    const compilerOptions = { target: 'es2023', noEmit: true, ...options };
    project.write({ [`types/${name}.json`]: JSON.stringify({ compilerOptions, files }) });
    await project.run('node_modules/.bin/tsc', ['-p', `types/${name}.json`]);
  }
}
