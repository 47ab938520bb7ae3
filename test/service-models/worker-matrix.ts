/** Workers on AWS Batch of every kind, and their templates. */
import { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { type App, Size, Stack } from 'aws-cdk-lib/core';
import {
  BatchWorker,
  type BatchWorkerProps,
  type ServingImageVariant,
  type TensorFlowModelProps,
} from '../../lib/index.ts';
import { existingImage, testApp, testModel } from '../support/stacks.ts';
import { type MatrixTemplate, templatesOf } from './matrix.ts';
import { coverPairs } from './pairs.ts';

/** A worker's own props, or what makes them in its stack. */
export type Choice = Partial<BatchWorkerProps> | ((stack: Stack) => Partial<BatchWorkerProps>);

/** The first of each is the default. */
const CHOICES = {
  image: ['gpu', 'in-process', 'cpu'],
  instances: [
    {},
    { spot: false },
    { vcpus: 8, memory: Size.gibibytes(14) },
    { instanceTypes: ['p5.48xlarge', 'p4d.24xlarge'], vcpus: 96, memory: Size.gibibytes(1000) },
  ],
  run: [
    {},
    { workers: 1, attempts: 1 },
    { workers: 10_000, ranges: 10_000, maxFailurePercent: 0 },
    { workers: 40, schedule: Schedule.expression('rate(1 day)') },
    { contentType: 'application/json', accept: 'text/csv', keySuffix: '.json' },
  ],
  around: [
    {},
    (stack) => ({ topic: new Topic(stack, 'Topic') }),
    (stack) => ({ encryptionKey: new Key(stack, 'Key') }),
    (stack) => ({
      securityGroups: [SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-0123456789abcdef0')],
    }),
  ],
} satisfies Record<string, readonly [...ServingImageVariant[]] | readonly Choice[]>;

/** Adds a stack with one worker. */
export function addWorker(
  app: App,
  id: string,
  model: Partial<TensorFlowModelProps>,
  ...choices: readonly Choice[]
): Stack {
  const stack = new Stack(app, id);
  const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
  const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['us-east-1a', 'us-east-1b'],
    privateSubnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  });
  const props = choices.map((choice) => (typeof choice === 'function' ? choice(stack) : choice));
  new BatchWorker(stack, 'Worker', {
    model: testModel(stack, model),
    vpc,
    input: { bucket, prefix: 'tiles/' },
    output: { bucket, prefix: 'answers/' },
    ...Object.assign({}, ...props),
  });
  return stack;
}

/** Templates of every pair of choices. */
export function workerTemplates(): MatrixTemplate[] {
  const app = testApp();
  const { image, instances, run, around } = CHOICES;
  const sizes = [image, instances, run, around].map(({ length }) => length);
  for (const [i = 0, n = 0, r = 0, a = 0] of coverPairs(sizes).rows) {
    const variant = image[i] ?? 'gpu';
    const large = { instanceTypes: [variant === 'gpu' ? 'g6.2xlarge' : 'c7i.2xlarge'] };
    const own = instances[n] ?? {};
    const types = 'vcpus' in own && own.vcpus === 8 ? large : {};
    const choices: (Choice | undefined)[] = [own, types, run[r], around[a]];
    addWorker(
      app,
      `w${[i, n, r, a].join('-')}`,
      { image: existingImage({ variant }) },
      ...choices.map((choice) => choice ?? {}),
    );
  }
  return templatesOf(app);
}
