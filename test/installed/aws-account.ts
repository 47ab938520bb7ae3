/** Verbs that ask services of AWS which moto lacks: quotas, prices, Inference Recommender, AWS Batch, Processing jobs. */
import assert from 'node:assert/strict';
import { startService } from 'sagemaker-tfs/stand-ins';
import type { Project } from './project.ts';

const REGISTRY = '123456789012.dkr.ecr.us-east-1.amazonaws.com';
const ROLE = 'arn:aws:iam::123456789012:role/serving';

/** An instance hour, as the Price List API tells it. */
const PRICE = JSON.stringify({
  product: { attributes: { usagetype: 'EUW1-Host:ml.g5.xlarge' } },
  terms: { OnDemand: { term: { priceDimensions: { hour: { pricePerUnit: { USD: '2.0' } } } } } },
});

/** Answers by operation. */
const ANSWERS: Readonly<Record<string, object>> = {
  ListServiceQuotas: { Quotas: [{ QuotaName: 'ml.g5.xlarge for endpoint usage', Value: 8 }] },
  ListAWSDefaultServiceQuotas: { Quotas: [] },
  GetProducts: { PriceList: [PRICE] },
  DescribeInferenceRecommendationsJob: {
    Status: 'COMPLETED',
    InferenceRecommendations: [
      {
        EndpointConfiguration: { InstanceType: 'ml.g5.xlarge' },
        Metrics: { MaxInvocations: 6_000, ModelLatency: 12, CostPerInference: 5e-7 },
      },
    ],
  },
  DescribeModel: {
    ModelName: 'tiles',
    ExecutionRoleArn: ROLE,
    PrimaryContainer: { Image: `${REGISTRY}/serving:1`, ModelDataUrl: 's3://models/m.tar.gz' },
  },
  submitjob: { jobArn: 'arn', jobId: 'id-1', jobName: 'tiles' },
};

/** An app with a scaled endpoint, as `cdk synth` writes it. */
const APP = {
  'app/manifest.json': JSON.stringify({
    version: '1',
    artifacts: {
      serving: {
        type: 'aws:cloudformation:stack',
        environment: 'aws://unknown-account/unknown-region',
        properties: { templateFile: 'serving.json', requiresBootstrapStackVersion: 6 },
      },
    },
  }),
  'app/serving.json': JSON.stringify({
    Resources: {
      Model: {
        Type: 'AWS::SageMaker::Model',
        Properties: { PrimaryContainer: { Image: `${REGISTRY}/serving:1` } },
      },
      Config: {
        Type: 'AWS::SageMaker::EndpointConfig',
        Properties: {
          ProductionVariants: [
            {
              ...{ VariantName: 'AllTraffic', ModelName: 'digits', InstanceType: 'ml.g5.xlarge' },
              InitialInstanceCount: 2,
            },
          ],
        },
      },
      Endpoint: { Type: 'AWS::SageMaker::Endpoint', Properties: {} },
      Target: {
        Type: 'AWS::ApplicationAutoScaling::ScalableTarget',
        Properties: { ResourceId: 'endpoint/digits/variant/AllTraffic', MaxCapacity: 4 },
      },
    },
  }),
};

const PLACES = [
  '--input-uri',
  's3://models/in/',
  '--output-uri',
  's3://models/answers-of-workers/',
];
const WORK = ['--images', '3600', '--seconds-per-image', '1', '--instance-type', 'ml.g5.xlarge'];

/** What is printed, and the line that prints it. */
const LINES: readonly (readonly [prints: RegExp, ...args: string[]])[] = [
  [/"instanceType": "ml.g5.xlarge"/, 'estimate', '--app', 'app'],
  [/"way": "endpoint"/, 'estimate', ...WORK, '--live-prices', '--region', 'eu-west-1'],
  [
    /"dollarsPerMillion": 0\.5/,
    ...['tune', '--recommend', 'digits', '--role-arn', ROLE],
    ...[
      '--sample-payload',
      's3://bucket/samples.tar.gz',
      '--content-type',
      'application/x-image',
      '--instance-type',
      'ml.g5.xlarge',
    ],
  ],
  // Before the Processing job, which holds the lease of the outputs.
  [
    /"jobId": "id-1"/,
    ...['batch', 'start', '--engine', 'batch', '--job-queue', 'tiles', '--job-definition', 'tiles'],
    ...[...PLACES, '--instance-count', '2'],
  ],
  [
    /"started": true/,
    ...['batch', 'start', '--engine', 'processing', '--model-name', 'tiles', ...PLACES],
    ...['--content-type', 'application/json'],
  ],
  [/"Stopping"/, 'batch', 'stop', 'tiles-1', '--engine', 'processing'],
  [/"Stopping"/, 'batch', 'stop', 'id-1', '--engine', 'batch'],
];

/** @param moto variables of the services that moto has @throws Error where a verb does not do its work */
export async function checkAccountVerbs(
  project: Project,
  moto: Readonly<Record<string, string>>,
): Promise<void> {
  project.write(APP);
  const services = await startService((operation) => ANSWERS[operation] ?? {});
  const { AWS_ENDPOINT_URL: s3 = '' } = moto;
  const environment = { ...moto, AWS_ENDPOINT_URL: services.url, AWS_ENDPOINT_URL_S3: s3 };
  try {
    for (const [prints, ...args] of LINES) {
      const { stdout } = await project.command([...args, '--json'], { environment });
      assert.match(stdout, prints, args.join(' '));
    }
    await checkAccount(project, { ...moto, AWS_ENDPOINT_URL_SERVICE_QUOTAS: services.url });
  } finally {
    await services.close();
  }
}

/** An empty account is not ready, and each service has answered. */
async function checkAccount(
  project: Project,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const account = ['doctor', '--account', '--app', 'app'];
  const { stdout } = await project.command(account, { environment, status: 1 });
  const answers = [
    /not done in this region/,
    /RepositoryNotFound/,
    /iam:CreateServiceLinkedRole/,
    /ml\.g5\.xlarge for endpoint usage/,
  ];
  for (const found of answers) {
    assert.match(stdout, found);
  }
  assert.doesNotMatch(stdout, /cannot be asked/);
}
