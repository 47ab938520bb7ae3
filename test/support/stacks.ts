/** What the tests of constructs and stacks share. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { App, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import {
  type ExistingImageProps,
  ModelData,
  ServingImage,
  TensorFlowModel,
  type TensorFlowModelProps,
} from '../../lib/index.ts';

/** A small SavedModel. */
export const MODEL_DIR = resolve('test/fixtures/models/half_plus_two');

/** Feature flags of the app. */
export const { context: testContext } = JSON.parse(readFileSync('cdk.json', 'utf8')) as {
  context: Record<string, unknown>;
};

/**
 * An app with the flags of `cdk.json` that packages and bundles nothing, unless asked. It takes no stack traces and
 * writes no tree: both take a third of a synth.
 */
export function testApp(options: { bundle?: boolean; outdir?: string | undefined } = {}): App {
  return new App({
    outdir: options.outdir ?? mkdtempSync(join(tmpdir(), 'synth-')),
    treeMetadata: false,
    stackTraces: false,
    context: {
      ...testContext,
      'aws:cdk:disable-creation-stack-traces': true,
      ...(!options.bundle && { 'aws:cdk:bundling-stacks': [] }),
    },
  });
}

/** A stack of its own. */
export function testStack(options?: { bundle?: boolean }): Stack {
  return new Stack(testApp(options), 'Test');
}

/** A build context with the files that an image needs, so that no test depends on the real one. */
export function stubContainer(): string {
  const directory = mkdtempSync(join(tmpdir(), 'container-'));
  mkdirSync(join(directory, 'dist'));
  writeFileSync(join(directory, 'Dockerfile'), 'FROM scratch\n');
  writeFileSync(join(directory, 'dist', 'main.js'), '');
  return directory;
}

/** An image in ECR. */
export function existingImage(props?: ExistingImageProps) {
  const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
  return ServingImage.fromUri(uri, props);
}

/** A model on a GPU image, from the small SavedModel. */
export function testModel(
  scope: Construct,
  props: Partial<TensorFlowModelProps> = {},
  id = 'Model',
): TensorFlowModel {
  return new TensorFlowModel(scope, id, {
    image: existingImage({ variant: 'gpu' }),
    modelData: ModelData.fromDirectory(MODEL_DIR),
    ...props,
  });
}

/** A template without what differs between machines and releases: hashes, and names made from them. */
export function masked(template: unknown): unknown {
  const text = JSON.stringify(template)
    .replace(/[0-9a-f]{64}/g, '<sha256>')
    .replace(/ReadModelData[0-9a-f]{8}[0-9A-F]{8}/g, 'ReadModelData<hash>')
    .replace(/(ModelUpload[0-9A-F]{8})[0-9a-f]{8}/g, '$1<hash>')
    .replace(/(fingerprint\\":\\")[0-9a-f]{16}/g, '$1<fingerprint>')
    .replace(/(EndpointConfig[0-9A-F]{8})[0-9a-f]{8}/g, '$1<hash>')
    .replaceAll(process.cwd(), '<project>');
  return JSON.parse(text);
}
