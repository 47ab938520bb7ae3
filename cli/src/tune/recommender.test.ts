/** A job that is paid for while it runs: it ends with the command, or the command says how to end it. */
import { type SageMakerStandIn, startService } from '../batch/aws/sagemaker-stand-in.ts';
import { recommend } from './recommender.ts';

const DONE = {
  Status: 'COMPLETED',
  InferenceRecommendations: [
    {
      EndpointConfiguration: { InstanceType: 'ml.c6i.large', EndpointName: 'e', VariantName: 'v' },
      Metrics: { MaxInvocations: 6_000, ModelLatency: 12 },
      ModelConfiguration: {},
    },
  ],
};
const DENIED = { __type: 'AccessDeniedException', message: 'not authorized' };

const before = { ...process.env };
let service: SageMakerStandIn;
/** Answers by operation, one after another; the last one stays. */
let answers: Record<string, object[]>;
beforeEach(async () => {
  answers = {};
  service = await startService((operation) => {
    const next = answers[operation.replace('InferenceRecommendationsJob', '')] ?? [{}];
    return (next.length > 1 ? next.shift() : next[0]) ?? {};
  });
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL_SAGEMAKER: service.url, AWS_REGION: 'us-east-1' },
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  });
});
afterEach(async () => {
  process.env = { ...before };
  await service.close();
});

const run = (signal = new AbortController().signal) =>
  recommend({
    ...{ modelName: 'digits', roleArn: 'arn:aws:iam::123456789012:role/role-name' },
    ...{ samplePayload: 's3://bucket/samples.tar.gz', contentType: 'application/x-image' },
    ...{ instanceTypes: ['ml.c6i.large'], intervalSeconds: 0.01, signal },
  });
const stops = () => service.calls.filter((call) => call.startsWith('Stop')).length;

test('looks that are refused for a while end nothing', async () => {
  answers = { Describe: [DENIED, DENIED, DENIED, { Status: 'IN_PROGRESS' }, DENIED, DONE] };
  expect(await run()).toMatchObject([{ where: 'ml.c6i.large', imagesPerSecond: 100 }]);
  expect(stops()).toBe(0);
});

test('a job whose first answer was lost is its own', async () => {
  answers = { Create: [{ __type: 'ResourceInUse', message: 'unique' }], Describe: [DONE] };
  expect(await run()).toHaveLength(1);
});

test('a job that cannot be looked at is stopped', async () => {
  answers = { Describe: [DENIED] };
  await expect(run()).rejects.toThrow(/not authorized/);
  expect(stops()).toBe(1);
});

test('an interrupted command stops its job', async () => {
  const interrupt = new AbortController();
  answers = { Describe: [{ Status: 'IN_PROGRESS' }] };
  const running = run(interrupt.signal);
  setTimeout(() => interrupt.abort(new Error('interrupted')), 50);
  await expect(running).rejects.toThrow('interrupted');
  expect(stops()).toBe(1);
});

test('a job that cannot be stopped either is named, with how to stop it', async () => {
  answers = { Describe: [DENIED], Stop: [DENIED] };
  await expect(run()).rejects.toMatchObject({
    code: 'JOB_NOT_WATCHED',
    message: expect.stringMatching(
      /job tune-\S+ may still run.*stop-inference-recommendations-job --job-name tune-/s,
    ),
  });
});

test('a job that has failed is not stopped', async () => {
  answers = { Describe: [{ Status: 'FAILED', FailureReason: 'no capacity' }] };
  await expect(run()).rejects.toMatchObject({ code: 'JOB_NOT_COMPLETED' });
  expect(stops()).toBe(0);
});
