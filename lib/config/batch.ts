/** Batch transforms of a model. */
import {
  EXISTING,
  FIRST_TRANSFORM_TYPE,
  fallbackTypes,
  NOTICE_PERCENTS,
} from '@sagemaker-tfs/batch';
import {
  ASSEMBLIES,
  BATCH_STRATEGIES,
  DEFAULT_SETTINGS,
  type IntegerSetting,
  SETTING_RULES,
  SPLIT_TYPES,
} from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { byDefault, count, inputType } from './fields.ts';

/** The end of a description: what a setting of a run is where nobody says otherwise. */
function otherwise(name: keyof typeof DEFAULT_SETTINGS): string {
  return byDefault(DEFAULT_SETTINGS[name]);
}

/** A whole number within the bounds of the setting. */
function bounded(name: IntegerSetting) {
  const { min, max } = SETTING_RULES[name];
  return z.int().min(min).max(max);
}

function whole(name: IntegerSetting, says: string) {
  return bounded(name)
    .optional()
    .describe(`${says} ${otherwise(name)}`);
}

/** A state machine that runs batch transforms. */
export const batch = z
  .strictObject({
    instanceType: z
      .string()
      .optional()
      .describe(`SageMaker's name. ${otherwise('instanceType')}`),
    fallbackInstanceTypes: z
      .array(z.string())
      .optional()
      .describe(
        `Types to try next, in turn, if \`instanceType\` is refused or has no capacity. Default: for \`ml.p3\`, which AWS is taking away, ${fallbackTypes(
          FIRST_TRANSFORM_TYPE,
        )
          .map((type) => `\`${type}\``)
          .join(', then ')}.`,
      ),
    instanceCount: whole('instanceCount', 'Instances of a job.'),
    maxConcurrentTransforms: whole(
      'maxConcurrentTransforms',
      'Requests at once to each instance; 0 asks the container.',
    ),
    maxPayloadInMB: whole('maxPayloadInMB', 'Largest request.'),
    contentType: inputType,
    accept: z
      .string()
      .optional()
      .describe(`Media type of the outputs. ${otherwise('accept')}`),
    splitType: z
      .enum(SPLIT_TYPES)
      .optional()
      .describe(`How a file is cut into records. ${otherwise('splitType')}`),
    batchStrategy: z
      .enum(BATCH_STRATEGIES)
      .optional()
      .describe(`Records in a request. ${otherwise('batchStrategy')}`),
    assembleWith: z
      .enum(ASSEMBLIES)
      .optional()
      .describe(
        `What follows the answer to each request. ${otherwise('assembleWith')} If \`splitType\` cuts files into records and \`accept\` is JSON: \`Line\`.`,
      ),
    sharding: z
      .strictObject({
        objectsPerShard: count
          .max(SETTING_RULES.objectsPerShard.max)
          .describe('Objects of each job at most.'),
        minutesPerShard: whole(
          'minutesPerShard',
          'Minutes of work of each job, by the rate that the first small shard shows; `objectsPerShard` is then the most. 0: every shard has `objectsPerShard`.',
        ),
        maxConcurrentJobs: whole('maxConcurrentJobs', 'Jobs at once.'),
        keySuffix: z
          .string()
          .max(200)
          .optional()
          .describe('End of the keys that are taken, such as `.jpg`. Default: all keys.'),
      })
      .optional()
      .describe('Several jobs over parts of the input. Default: one job.'),
    existing: z
      .enum(EXISTING)
      .optional()
      .describe(
        `Outputs that count as done before a sharded run: those of the same model and settings that are not \`older\` than their input, all (\`skip\`), or none (\`replace\`). ${otherwise('existing')}`,
      ),
    allowEmpty: z
      .boolean()
      .optional()
      .describe(`Whether a sharded run that finds no input succeeds. ${otherwise('allowEmpty')}`),
    maxFailurePercent: whole(
      'maxFailurePercent',
      'Inputs of a shard, in percent, whose failure stops the run.',
    ),
    budgetInstanceHours: bounded('budgetInstanceHours')
      .optional()
      .describe('Instance hours after which a sharded run starts no more jobs. Default: no limit.'),
    email: z.email().optional().describe('Email for the end of a run. Default: none.'),
    noticesAt: z
      .array(z.int().min(NOTICE_PERCENTS.from).max(NOTICE_PERCENTS.to))
      .optional()
      .describe(
        'Percentages of a sharded run at which `email` receives a message, such as `[10, 50, 90]`. Default: none.',
      ),
    schedule: z
      .string()
      .regex(/^(cron|rate)\(.+\)$/, 'write cron(...) or rate(...)')
      .optional()
      .describe('When a run starts: `cron(...)` or `rate(...)` of EventBridge. Default: by hand.'),
    runOnDeploy: z.boolean().optional().describe('A run after every deployment. Default: `false`.'),
  })
  .refine(({ noticesAt = [], email }) => noticesAt.length === 0 || email !== undefined, {
    path: ['noticesAt'],
    message: `notices need a recipient. Set 'email'`,
  });
