/** Inference components: several models on the instances of one endpoint. */
import * as z from 'zod';
import { MAX_COMPONENT_NAME } from '../components/check-props.ts';
import { MIN_COMPONENT, START_SECONDS } from '../rules/bounds.ts';
import { byDefault, count, positive, wholeIn } from './fields.ts';
import { checkSources, sources } from './sources.ts';

const own = <T extends z.ZodType>(field: T) => field.describe(`Its own. Default: the model's.`);
const seconds = wholeIn(START_SECONDS).optional();

/** Copies that follow the load. */
const scaling = z.strictObject({
  minCopies: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Fewest copies; with 0 it [sleeps](inference-components.md#asleep-and-awake) when nobody asks. Default: 1.',
    ),
  maxCopies: count.describe('Greatest number of copies.'),
  target: z
    .union([
      z.strictObject({
        invocationsPerMinute: positive.describe('Requests a minute to each copy.'),
      }),
      z.strictObject({ concurrentRequests: positive.describe('Requests at once to each copy.') }),
    ])
    .describe('What autoscaling keeps constant; one of these.'),
});

/** One model with its share of the instances. */
export const component = z
  .strictObject({
    name: z
      .string()
      .max(MAX_COMPONENT_NAME)
      .regex(/^[a-zA-Z0-9](-?[a-zA-Z0-9])*$/, 'use letters, digits and single hyphens')
      .describe("Names it; requests choose it by the endpoint's name, a hyphen and this."),
    memoryMiB: z
      .int()
      .min(MIN_COMPONENT.memoryMiB)
      .optional()
      .describe(
        `Memory set aside for each copy: far less than the instance has can be given away. ${byDefault(1024)}`,
      ),
    cpus: z
      .number()
      .min(MIN_COMPONENT.cpus)
      .optional()
      .describe('CPU cores set aside for each copy. Default: none.'),
    accelerators: count
      .optional()
      .describe('GPUs of each copy. Default: 1 with an image for GPUs, else none.'),
    copies: count
      .optional()
      .describe(
        'Copies at the start, and perhaps [again at an update](inference-components.md#update). Default: 1, or `scaling.minCopies`.',
      ),
    scaling: scaling
      .optional()
      .describe('Autoscaling of the copies. Default: a fixed number of copies.'),
    model: own(sources.model),
    archive: own(sources.archive),
    archiveKeyArn: sources.archiveKeyArn.describe(
      'Key that its `archive` is under. Default: that of the stack.',
    ),
    modelName: own(sources.modelName),
    modelPackage: own(sources.modelPackage),
    fingerprint: sources.fingerprint.describe(
      'Fingerprint of its `archive`, `modelName` or `modelPackage`.',
    ),
    handler: own(sources.handler),
    preprocess: own(sources.preprocess),
    postprocess: own(sources.postprocess),
    compression: own(sources.compression),
    environment: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe("Variables beside the model's, or in their place. Default: none."),
    modelDataDownloadTimeoutSeconds: seconds.describe("Its own. Default: the endpoint's."),
    startupTimeoutSeconds: seconds.describe("Its own. Default: the endpoint's."),
  })
  .superRefine(checkSources);

/** Instances that SageMaker counts by itself. */
export const managedInstances = z.strictObject({
  minInstances: z
    .int()
    .min(0)
    .optional()
    .describe('Fewest instances. Default: 0 if every component may have 0 copies, else 1.'),
  maxInstances: count.describe('Greatest number of instances.'),
});

/** Fields of an endpoint that this project does not combine with components, whether or not SageMaker does. */
const NOT_COMBINED = [
  'instanceTypes',
  'capacityReservationArn',
  'instanceCount',
  'scaling',
  'dataCapturePercent',
  'drift',
  'api',
] as const;

/** A field that cannot stand beside the others, with the reason. */
export function componentConflict(
  given: Readonly<Partial<Record<string, unknown>>>,
): { readonly name: string; readonly problem: string } | undefined {
  const { components, managedInstances } = given;
  if (components === undefined) {
    if (managedInstances === undefined) return undefined;
    const problem = `given without 'components'. Leave it out, or use 'scaling'`;
    return { name: 'managedInstances', problem };
  }
  if (managedInstances === undefined) {
    return { name: 'managedInstances', problem: `missing. 'components' need its maxInstances` };
  }
  const name = NOT_COMBINED.find((field) => given[field] !== undefined);
  if (name === undefined) return undefined;
  const problem = `not offered here together with 'components'. Leave one of the two out`;
  return { name, problem };
}
