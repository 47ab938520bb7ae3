/** Every construct and every prop that takes a construct of the CDK, as an app with the strictest types writes it. */
import {
  BatchStack,
  BatchTransform,
  BatchWorkerStack,
  EndpointMonitoring,
  ImageStack,
  ModelData,
  parseConfig,
  RealtimeEndpoint,
  ServingImage,
  ServingStack,
  SmokeTest,
  TensorFlowModel,
} from '@sagemaker-tfs/cdk';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type IVpc, Port, SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { App, Duration, Size, Stack } from 'aws-cdk-lib/core';

const app = new App();
const stack = new Stack(app, 'Strict');
const bucket = new Bucket(stack, 'Bucket');
const key = new Key(stack, 'Key');
const topic = new Topic(stack, 'Topic');
const vpc = new Vpc(stack, 'Vpc');
const repository = new Repository(stack, 'Repository');
const role = new Role(stack, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
// The props of the CDK itself refuse its `Vpc`.
const securityGroups = [new SecurityGroup(stack, 'Group', { vpc: vpc as IVpc })];
const metric = new Metric({ namespace: 'App', metricName: 'Failures' });
const alarm = new Alarm(stack, 'Alarm', { metric, threshold: 1, evaluationPeriods: 1 });

const image = ServingImage.fromEcrRepository(repository, '1', { variant: 'gpu', cuda: '12.5' });
image.grantPull(role);
new ServingImage(stack, 'Image', { buildArgs: { NODE_BASE: 'node:24' } }).grantPull(role);

export const data = [
  ModelData.fromDirectory('model', { handler: 'inference.ts', preprocess: { scale: 1 / 255 } }),
  ModelData.fromArchive(bucket, 'model.tar.gz', { fingerprint: 'f' }),
  ModelData.fromPrefix(Bucket.fromBucketName(stack, 'Existing', 'existing'), 'model/'),
  ModelData.multiModel(bucket, 'models/'),
];

const model = new TensorFlowModel(stack, 'Model', {
  image,
  modelData: ModelData.fromArchive(bucket, 'model.tar.gz'),
  environment: { SAGEMAKER_TFS_ENABLE_BATCHING: true },
  handlerEnvironment: { THRESHOLD: '0.5' },
  vpc,
  vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
  securityGroups,
});
bucket.grantRead(model);
securityGroups[0]?.connections.allowFrom(model, Port.HTTPS);

const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
  variants: [
    { model, variantName: 'instances', volumeSize: Size.gibibytes(10) },
    { model, variantName: 'serverless', serverless: { memory: Size.gibibytes(2) } },
  ],
  shadowVariant: {
    model,
    variantName: 'shadow',
    scaling: { maxInstances: 2, target: { backlog: 1 } },
  },
  volumeKey: key,
  asyncInference: {
    outputBucket: bucket,
    inputBucket: bucket,
    successTopic: topic,
    errorTopic: topic,
    encryptionKey: key,
  },
  dataCapture: { bucket, encryptionKey: key, capture: ['Input'] },
  deployment: {
    rollbackAlarms: [alarm],
    traffic: { type: 'canary', percent: 10, wait: Duration.minutes(1) },
  },
});
endpoint.grantInvoke(role);
RealtimeEndpoint.fromEndpointName(stack, 'Imported', 'existing').grantInvoke(role);
endpoint
  .variantMetrics()
  .metricInvocations({ period: Duration.minutes(5) })
  .createAlarm(stack, 'Quiet', {
    threshold: 1,
    evaluationPeriods: 1,
  });

new EndpointMonitoring(stack, 'Monitoring', {
  endpoint,
  alarmTopic: topic,
  thresholds: { modelLatencyP90: Duration.seconds(1) },
});

new SmokeTest(stack, 'SmokeTest', {
  endpoint,
  samples: [{ name: 'one', file: 'one.json', contentType: 'application/json' }],
  vpc,
  securityGroups,
});

new BatchTransform(stack, 'Batch', {
  model,
  input: { bucket, prefix: 'input/' },
  output: { bucket, prefix: 'output/' },
  volumeKey: key,
  outputKey: key,
  topic,
  schedule: Schedule.rate(Duration.days(1)),
}).stateMachine.grantStartExecution(role);

const config = parseConfig(
  {
    models: { m: { model: 'model', endpoint: {}, batch: {}, batchWorker: {} } },
    vpc: {
      vpcId: 'vpc-1',
      availabilityZones: ['us-east-1a'],
      subnetIds: ['subnet-1'],
      securityGroupIds: ['sg-1'],
    },
  },
  'app',
);
const images = new ImageStack(app, 'Images', { variants: ['cpu'] });
for (const [name, one] of Object.entries(config.models)) {
  const { endpoint, batch, batchWorker } = one;
  const common = { image: images.image('cpu'), model: one };
  if (endpoint) new ServingStack(app, name, { ...common, endpoint });
  if (batch) new BatchStack(app, `${name}-batch`, { ...common, batch });
  if (batchWorker && config.vpc) {
    const vpcConfig = config.vpc;
    new BatchWorkerStack(app, `${name}-batch-worker`, { ...common, batchWorker, vpcConfig });
  }
}
