/** Batch inference by workers on AWS Batch. */
import { MAX_RANGES, NOTICE_PERCENTS } from '@sagemaker-tfs/batch';
import { DEFAULT_SETTINGS, SETTING_RULES } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { DEFAULT_ATTEMPTS, DEFAULT_WORKERS } from '../batch-worker/command.ts';
import {
  DEFAULT_TYPES,
  DEFAULT_TYPES_ANYWHERE,
  WORKER_MEMORY,
  WORKER_VCPUS,
} from '../batch-worker/instance-types.ts';
import { WORKER_DISK } from '../batch-worker/launch-template.ts';
import {
  LEAST_WORKER,
  WORKER_ATTEMPTS,
  WORKER_DISK_GIB,
  WORKER_VCPU_COUNTS,
  WORKER_WAIT_SECONDS,
  WORKERS_OF_A_RUN,
} from '../rules/bounds.ts';
import { byDefault, inputType, positive, wholeIn } from './fields.ts';
import type { Sources } from './sources.ts';

const typesInWords = (types: readonly string[]) => types.map((type) => `\`${type}\``).join(', ');

/** Workers on instances of AWS Batch, with a queue and a job. */
export const batchWorker = z
  .strictObject({
    instanceTypes: z
      .array(z.string())
      .optional()
      .describe(
        `Types of EC2, without \`ml.\`. Name several: a spot pool of one type is easily empty. They decide about an image that is built here. Default: the first three that the region has of ${typesInWords(DEFAULT_TYPES.gpu)}; for an image without GPU of ${typesInWords(DEFAULT_TYPES.x86_64)}. Without a region ${typesInWords(DEFAULT_TYPES_ANYWHERE.gpu)}; ${typesInWords(DEFAULT_TYPES_ANYWHERE.x86_64)}.`,
      ),
    spot: z
      .boolean()
      .optional()
      .describe(
        'Spot instances, which AWS may take back: a worker continues where it was. Default: `true`.',
      ),
    workers: wholeIn(WORKERS_OF_A_RUN)
      .optional()
      .describe(
        `Workers of a run, all at once if AWS has the instances. ${byDefault(DEFAULT_WORKERS)}`,
      ),
    vcpus: wholeIn(WORKER_VCPU_COUNTS)
      .optional()
      .describe(`vCPUs of a worker. ${byDefault(WORKER_VCPUS)}`),
    memoryMiB: z
      .int()
      .min(LEAST_WORKER.memoryMiB)
      .optional()
      .describe(
        `Memory of a worker; less than an instance has, as its system needs some. ${byDefault(WORKER_MEMORY.toMebibytes())}`,
      ),
    diskGiB: wholeIn(WORKER_DISK_GIB)
      .optional()
      .describe(
        `Root volume of an instance, for the image, and archive and model of every worker on it. ${byDefault(WORKER_DISK.toGibibytes())}`,
      ),
    attempts: wholeIn(WORKER_ATTEMPTS)
      .optional()
      .describe(
        `Times that a worker is started, if its instance is taken back, its image cannot be pulled, or it is killed. ${byDefault(DEFAULT_ATTEMPTS)}`,
      ),
    timeoutSeconds: z
      .int()
      .min(LEAST_WORKER.timeoutSeconds)
      .optional()
      .describe(
        'How long a worker may run each time that it is started; then AWS Batch ends it, and does not start it again. Default: five days.',
      ),
    provisioningTimeoutSeconds: wholeIn(WORKER_WAIT_SECONDS)
      .optional()
      .describe(
        'How long a worker waits where AWS has no instance for it; then AWS Batch cancels it. Default: a day.',
      ),
    contentType: inputType,
    accept: z
      .string()
      .optional()
      .describe(`Media type of the answers. ${byDefault(DEFAULT_SETTINGS.accept)}`),
    keySuffix: z
      .string()
      .max(200)
      .optional()
      .describe('End of the keys that are taken, such as `.jpg`. Default: all keys.'),
    ranges: wholeIn([1, MAX_RANGES])
      .optional()
      .describe(
        'Ranges that the keys are cut into; no fewer than workers. Default: 8 for each worker, and 64 at least.',
      ),
    maxFailurePercent: wholeIn([
      SETTING_RULES.maxFailurePercent.min,
      SETTING_RULES.maxFailurePercent.max,
    ])
      .optional()
      .describe(
        `Failed inputs, in percent of those tried, that end a worker. ${byDefault(DEFAULT_SETTINGS.maxFailurePercent)}`,
      ),
    budgetHours: positive
      .optional()
      .describe(
        'Hours of all workers of a run together, after which they write what they have and end. Default: no limit.',
      ),
    email: z
      .email()
      .optional()
      .describe(
        'Email for the end of a run, and for workers that find no instance. Default: none.',
      ),
    noticesAt: z
      .array(z.int().min(NOTICE_PERCENTS.from).max(NOTICE_PERCENTS.to))
      .optional()
      .describe(
        'Percentages of the ranges at which `email` receives a message, such as `[10, 50, 90]`. Default: none.',
      ),
    schedule: z
      .string()
      .regex(/^(cron|rate)\(.+\)$/, 'write cron(...) or rate(...)')
      .optional()
      .describe('When a run starts: `cron(...)` or `rate(...)` of EventBridge. Default: by hand.'),
  })
  .refine(({ noticesAt = [], email }) => noticesAt.length === 0 || email !== undefined, {
    path: ['noticesAt'],
    message: `notices need a recipient. Set 'email'`,
  });

const ADVICE: Readonly<Record<string, string>> = {
  compression: `Write 'gzip', or leave it out`,
  baked: 'Leave it out',
};

/** Refuses a model that workers cannot read: they unpack one archive themselves. */
export function checkWorkerSource(
  config: Sources & { readonly batchWorker?: unknown },
  context: z.RefinementCtx,
): void {
  if (!config.batchWorker) return;
  const { archive, compression } = config;
  const unread = [
    ...(['multiModel', 'modelName', 'modelPackage'] as const).filter(
      (field) => config[field] !== undefined,
    ),
    ...(archive?.endsWith('/') ? ['archive'] : []),
    ...(compression === 'none' ? ['compression'] : []),
    ...(config.baked ? ['baked'] : []),
  ];
  for (const field of unread) {
    const message = `workers of 'batchWorker' read one archive. ${ADVICE[field] ?? `Give a 'model', or the 'archive' of one, s3://BUCKET/KEY.tar.gz`}`;
    context.addIssue({ code: 'custom', path: [field], message });
  }
}

/** Models whose workers have no network: AWS Batch starts instances in a VPC alone. */
export function workersWithoutVpc({
  models,
  vpc,
  environments,
}: {
  readonly models: Readonly<Record<string, { readonly batchWorker?: unknown }>>;
  readonly vpc?: unknown;
  readonly environments?: readonly { readonly name: string; readonly vpc?: unknown }[] | undefined;
}): { readonly model: string; readonly message: string }[] {
  const without = environments?.find((one) => !one.vpc);
  if (vpc || (environments && !without)) return [];
  const where = without ? `, and '${without.name}' has none` : '';
  const message = `instances of AWS Batch are in a VPC${where}. Give a 'vpc' beside 'models'${without ? `, or one to each environment` : ''}`;
  return Object.entries(models).flatMap(([model, { batchWorker }]) =>
    batchWorker ? [{ model, message }] : [],
  );
}
