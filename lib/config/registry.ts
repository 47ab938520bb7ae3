/** The part of `serving.config.ts` about SageMaker's Model Registry and what starts deployments. */
import { BUCKET, SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import * as z from 'zod';
import { MODEL_PACKAGE_ARN } from '../rules/model-package.ts';
import { keyArn } from './fields.ts';

const group = z.string().regex(SAGEMAKER_NAME, 'use letters, digits and single hyphens');

const account = z.string().regex(/^\d{12}$/, 'write the 12 digits of an account');

/** A version in the registry as the source of a model. */
export const modelPackage = z.strictObject({
  arn: z
    .string()
    .regex(MODEL_PACKAGE_ARN, 'write arn:aws:sagemaker:REGION:ACCOUNT:model-package/GROUP/VERSION')
    .describe('The version, as `register` prints it.'),
  archives: z
    .string()
    .regex(new RegExp(`^s3://${BUCKET}/(.+/)?$`, 's'), 'write s3://BUCKET/PREFIX/')
    .describe("Prefix of S3 with its archive, `register --to`: the model's role may read it."),
  keyArn: keyArn
    .optional()
    .describe(
      "Key that the archive is under, of any account: the model's role may decrypt with it. Default: that of the stack.",
    ),
  image: z
    .string()
    .min(1)
    .describe("The version's image, `register --image`: the model's role may pull it."),
});

/** The registry of a project. */
export const registry = z.strictObject({
  groups: z
    .array(group)
    .min(1)
    .describe('Names of model package groups, one for each model that has versions.'),
  readers: z
    .array(account)
    .optional()
    .describe(
      'Other accounts that may read versions and archives, and deploy them. Default: none.',
    ),
  approvers: z
    .array(account)
    .optional()
    .describe(
      'Other accounts that may read and change versions, such as approve them. Default: none.',
    ),
});

/** What starts a deployment. */
export const redeploy = z
  .strictObject({
    approvedIn: group
      .optional()
      .describe('A model package group: a version of it that is approved is the cause.'),
    pointer: z
      .string()
      .regex(new RegExp(`^s3://${BUCKET}/.+[^/]$`, 's'), 'write s3://BUCKET/KEY')
      .optional()
      .describe(
        'An object of S3: a change of it is the cause. Its bucket must send events to EventBridge.',
      ),
    project: z.string().min(1).optional().describe('A project of CodeBuild, which is started.'),
    pipeline: z
      .string()
      .min(1)
      .optional()
      .describe('A pipeline of CodePipeline, which is started.'),
    alarmEmail: z
      .email()
      .optional()
      .describe('Email if an event could not start it. Default: none; the alarm is there.'),
  })
  .refine(({ approvedIn, pointer }) => (approvedIn === undefined) !== (pointer === undefined), {
    path: ['approvedIn'],
    message: `one cause is needed. Give either 'approvedIn' or 'pointer'`,
  })
  .refine(({ project, pipeline }) => (project === undefined) !== (pipeline === undefined), {
    path: ['project'],
    message: `one target is needed. Give either 'project' or 'pipeline'`,
  });
