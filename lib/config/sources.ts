/** Where a model is, and what is packaged with it. */

import { BUCKET, SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { postprocessSchema, preprocessSchema, SHA256 } from '@sagemaker-tfs/manifest';
import * as z from 'zod';
import { keyArn } from './fields.ts';
import { modelPackage } from './registry.ts';

/** Fields of a model and of a variant. */
export const sources = {
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      'SavedModel directory. One of `model`, `archive`, `multiModel`, `modelName` and `modelPackage` is required.',
    ),
  archive: z
    .string()
    .regex(
      new RegExp(`^s3://${BUCKET}/.+(\\.tar\\.gz|/)$`, 's'),
      'write s3://BUCKET/KEY.tar.gz, or s3://BUCKET/PREFIX/ for its files',
    )
    .optional()
    .describe(
      'In place of `model`: a `model.tar.gz` that `sagemaker-tfs package` made and that is in S3 already, or a prefix of S3 with its files.',
    ),
  multiModel: z
    .string()
    .regex(new RegExp(`^s3://${BUCKET}/.+/$`, 's'), 'write s3://BUCKET/PREFIX/')
    .optional()
    .describe(
      'In place of `model`: a prefix of S3 with a `model.tar.gz` for each model, loaded when a request names it. CPU types and `cpu` images only.',
    ),
  archiveKeyArn: keyArn
    .optional()
    .describe(
      "Key that `archive` or `multiModel` is under, of any account: the model's role may decrypt with it. Default: that of the stack.",
    ),
  archives: z
    .string()
    .regex(new RegExp(`^s3://${BUCKET}/.+/$`, 's'), 'write s3://BUCKET/PREFIX/')
    .optional()
    .describe(
      'Prefix of S3 that `archive` and those of other releases lie below: batch runs may read them all, so that a deployment [does not end them](batch.md#a-deployment-during-a-run). Default: the folder of `archive`.',
    ),
  modelName: z
    .string()
    .regex(SAGEMAKER_NAME, 'write the name of a model of SageMaker')
    .optional()
    .describe(
      "In place of `model`: a model that is in SageMaker already, by its name, on an image of this project's. Its role must have every permission already.",
    ),
  modelPackage: modelPackage
    .optional()
    .describe(
      "In place of `model`: a version of SageMaker's [Model Registry](model-registry.md), with its image.",
    ),
  fingerprint: z
    .string()
    .regex(SHA256, 'write the 64 digits that package --json prints')
    .optional()
    .describe(
      'Fingerprint of `archive`, `modelName` or `modelPackage`, which the smoke test compares with the model that answers. Default: not compared.',
    ),
  handler: z
    .string()
    .min(1)
    .optional()
    .describe(
      'TypeScript [handler](handlers.md). Default: `code/inference.ts` in `model`, or none.',
    ),
  preprocess: preprocessSchema
    .optional()
    .describe(
      'How images become the input: [declarations](bring-your-own-model.md#no-code-declare-what-happens-to-images).',
    ),
  postprocess: postprocessSchema.optional().describe('How outputs become the answer, declared.'),
  compression: z
    .enum(['gzip', 'none'])
    .optional()
    .describe(
      'One archive, or files under a prefix of S3; `none` not for batch, workers and serverless. Default: `gzip`.',
    ),
  baked: z
    .boolean()
    .optional()
    .describe(
      'Whether [the image holds the model](configuration.md#a-model-in-the-image), so that no archive is downloaded. With `model` it is built so; without, `image.uri` is such an image. Not for workers. Default: false.',
    ),
  environment: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .default({})
    .describe(
      "The runtime's [variables](reference.md#environment-variables), checked, and the handler's own.",
    ),
};

const SOURCES = ['model', 'archive', 'multiModel', 'modelName', 'modelPackage'] as const;
/** In words. */
export const SOURCE_LIST = "'model', 'archive', 'multiModel', 'modelName' and 'modelPackage'";

/** Fields of a model or of a variant that say which model it is. */
export type Sources = {
  readonly [K in keyof typeof sources]?: z.output<(typeof sources)[K]> | undefined;
};

/** The places that are given. */
export function sourcesOf(config: Sources) {
  const given = SOURCES.filter((name) => config[name] !== undefined);
  return given.length === 0 && config.baked ? (['baked'] as const) : given;
}

/** Refuses two places of one model, and fields that are of no use for the place that is given. */
export function checkSources(config: Sources, context: z.RefinementCtx): void {
  const given = sourcesOf(config);
  if (given.length > 1) {
    const message = `${given.join(' and ')} of ${SOURCE_LIST} is given. Give one of them`;
    context.addIssue({ code: 'custom', message });
  }
  if (given.length > 0 && config.model === undefined) refusePackaging(config, context);
  const { archive, modelName, modelPackage, fingerprint, environment = {} } = config;
  const isBaked = config.baked && config.model === undefined;
  if (fingerprint !== undefined && !archive && !modelName && !modelPackage && !isBaked) {
    const message = `it is of an 'archive', a 'modelName' or a 'modelPackage'. Leave it out`;
    context.addIssue({ code: 'custom', path: ['fingerprint'], message });
  }
  if (config.archiveKeyArn !== undefined && !archive && !config.multiModel) {
    const message = `it is of an 'archive' or of 'multiModel'. ${modelPackage ? `Write modelPackage.keyArn` : 'Leave it out'}`;
    context.addIssue({ code: 'custom', path: ['archiveKeyArn'], message });
  }
  if (config.archives !== undefined && !archive?.startsWith(config.archives)) {
    const message = archive
      ? `'${archive}' does not lie below it. Name a folder that it lies in`
      : `it is of an 'archive'. ${modelPackage ? 'Write modelPackage.archives' : 'Leave it out'}`;
    context.addIssue({ code: 'custom', path: ['archives'], message });
  }
  if (config.baked && config.compression !== undefined) {
    const message = `a model in the image is not compressed. Leave it out`;
    context.addIssue({ code: 'custom', path: ['compression'], message });
  }
  if (modelName !== undefined && Object.keys(environment).length > 0) {
    const message = `a model of SageMaker has its own. Leave it out`;
    context.addIssue({ code: 'custom', path: ['environment'], message });
  }
}

/** Refuses what only the packaging of a model reads. */
export function refusePackaging(
  config: Sources,
  context: z.RefinementCtx,
  path: readonly PropertyKey[] = [],
): void {
  const isPlace = config.baked && sourcesOf(config)[0] === 'baked';
  const baked = isPlace ? [] : (['baked'] as const);
  for (const name of ['handler', 'preprocess', 'postprocess', 'compression', ...baked] as const) {
    if (config[name] === undefined) continue;
    const message = `it is packaged with a 'model'; what is in AWS has its own. Leave it out, or package again`;
    context.addIssue({ code: 'custom', path: [...path, name], message });
  }
}
