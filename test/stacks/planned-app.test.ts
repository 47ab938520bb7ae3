/** `doctor --account` reads a synthesized app as the constructs write it. */
import { readAssembly } from 'sagemaker-tfs/development/command';
import { addServingStacks, parseConfig } from '../../lib/index.ts';
import { MODEL_DIR, testApp } from '../support/stacks.ts';

test('instances of endpoints and jobs, hosts and images, in every stage', async () => {
  const app = testApp();
  const uri = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1';
  const endpoint = {
    instanceType: 'ml.g5.xlarge',
    scaling: { minInstances: 2, maxInstances: 6, target: { concurrentRequests: 4 } },
  };
  const batch = { sharding: { objectsPerShard: 1000, maxConcurrentJobs: 3 } };
  const config = {
    image: { uri, variant: 'gpu' },
    models: { m: { model: MODEL_DIR, endpoint, batch } },
    environments: [{ name: 'prod', account: '111111111111', region: 'us-east-1' }],
  };
  addServingStacks(app, parseConfig(config, 'test'));
  const stacks = await readAssembly(app.synth().directory);
  expect(stacks.map(({ name, region }) => [name, region])).toEqual([
    ['prod-tensorflow-m', 'us-east-1'],
    ['prod-tensorflow-m-batch', 'us-east-1'],
  ]);
  const [serving, jobs] = stacks;
  expect(serving).toMatchObject({
    fleets: [{ type: 'ml.g5.xlarge', use: 'endpoint', atFirst: 2, most: 12, hasOthers: false }],
    amis: [expect.stringContaining('gpu')],
    images: [uri],
    isScaled: true,
  });
  expect(serving?.bootstrapVersion).toBeGreaterThan(0);
  const job = { use: 'transform job', atFirst: 0, most: 6, hasOthers: true };
  expect(jobs?.fleets).toEqual([
    { ...job, type: 'ml.p3.2xlarge' },
    { ...job, type: 'ml.g5.2xlarge' },
    { ...job, type: 'ml.g4dn.xlarge' },
  ]);
});
