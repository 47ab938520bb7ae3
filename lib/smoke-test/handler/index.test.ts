/** The function as Lambda runs it, against real HTTP servers instead of AWS. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ASLEEP,
  type StandIn,
  type StandInOptions,
  startAwsStandIn,
} from '../../../test/rehearse/aws-stand-in.ts';
import type { Invocation, ModelReply } from '../../../test/rehearse/model-stand-in.ts';
import type { SmokeTestPlan } from '../plan.ts';
import { handler } from './index.ts';
import { outputNames } from './report.ts';

const FINGERPRINT = '0123456789abcdef';
const samples = mkdtempSync(join(tmpdir(), 'samples-'));
writeFileSync(join(samples, 'seven'), 'a picture of a seven');

const plan: SmokeTestPlan = {
  endpointName: 'digits',
  endpointConfigName: 'config-2',
  variants: [
    {
      name: 'AllTraffic',
      fingerprint: FINGERPRINT,
      transports: ['rest', 'grpc'],
      usdPerSecond: 0.736 / 3600,
    },
  ],
  iterations: 3,
  samples: [
    {
      name: 'seven',
      file: 'seven',
      contentType: 'application/x-image',
      expect: [{ path: '$.digit', equals: '7' }],
    },
  ],
  metricNamespace: 'SmokeTest',
};

const inService = { EndpointStatus: 'InService', EndpointConfigName: 'config-2' };
const DENIED = {
  __type: 'AccessDeniedException',
  message: 'User is not authorized to perform: sagemaker:DescribeEndpoint',
};
const seven: ModelReply = {
  status: 200,
  contentType: 'application/json',
  customAttributes: `tfs-fingerprint=${FINGERPRINT}`,
  body: Buffer.from('{"digit": 7}'),
};

let standIn: StandIn | undefined;
let invocations: Invocation[] = [];
const log = jest.spyOn(console, 'log').mockImplementation(() => {});
jest.spyOn(console, 'error').mockImplementation(() => {});
jest.spyOn(console, 'warn').mockImplementation(() => {});

afterEach(async () => {
  await standIn?.close();
  log.mockClear();
  invocations = [];
});

/** Runs the function and gives what CloudFormation was told. */
async function run(
  options: Partial<StandInOptions> = {},
  event: {
    RequestType?: 'Create' | 'Update' | 'Delete';
    plan?: Partial<SmokeTestPlan>;
    milliseconds?: number;
  } = {},
) {
  standIn = await startAwsStandIn({
    endpoint: () => inService,
    ...options,
    invoke: (invocation) => {
      invocations.push(invocation);
      return options.invoke?.(invocation) ?? seven;
    },
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: standIn.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    SAMPLES_DIR: samples,
  });
  await handler(
    {
      RequestType: event.RequestType ?? 'Create',
      ResponseURL: standIn.responseUrl,
      StackId: 'arn:aws:cloudformation:us-east-1:123456789012:stack/digits/1',
      RequestId: 'request',
      LogicalResourceId: 'SmokeTest',
      ResourceProperties: { Plan: JSON.stringify({ ...plan, ...event.plan }) },
    },
    { getRemainingTimeInMillis: () => event.milliseconds ?? 60_000 },
  );
  return standIn.responses[0];
}

test('every sample goes to the variant over every transport, once and then as often as asked', async () => {
  const response = await run();
  expect(response).toMatchObject({ Status: 'SUCCESS', LogicalResourceId: 'SmokeTest' });
  expect(invocations.map(({ customAttributes }) => customAttributes)).toEqual([
    ...Array.from({ length: 4 }, () => 'tfs-transport=rest'),
    ...Array.from({ length: 4 }, () => 'tfs-transport=grpc'),
  ]);
  expect(invocations[0]).toMatchObject({
    endpoint: 'digits',
    variant: 'AllTraffic',
    contentType: 'application/x-image',
    body: Buffer.from('a picture of a seven'),
  });
});

test('a connection to CloudFormation that hangs ends in time for the next attempt', async () => {
  const timeout = jest
    .spyOn(AbortSignal, 'timeout')
    .mockImplementationOnce(() => AbortSignal.abort(new Error('the time is over')));
  expect(await run({}, { RequestType: 'Delete' })).toMatchObject({ Status: 'SUCCESS' });
  expect(timeout).toHaveBeenCalledTimes(2);
  const [[milliseconds = 0] = []] = timeout.mock.calls;
  // Three of them with the pauses between fit into the time that is kept for the answer.
  expect(3 * milliseconds + 3_000).toBeLessThanOrEqual(30_000);
  timeout.mockRestore();
});

const components = [
  { name: 'cats', componentName: 'digits-cats', transports: ['rest'] as const },
  { name: 'dogs', componentName: 'digits-dogs', transports: ['rest'] as const },
];

test('components are asked by name, and a sample that names one goes to that alone', async () => {
  const [sample] = plan.samples;
  const samples = [{ ...sample, component: 'dogs' }] as SmokeTestPlan['samples'];
  const response = await run({}, { plan: { variants: components, samples, iterations: 1 } });
  expect(response).toMatchObject({ Status: 'SUCCESS' });
  expect(invocations.map(({ component, variant }) => [component, variant])).toEqual([
    ['digits-dogs', undefined],
    ['digits-dogs', undefined],
  ]);
});

test('a component that sleeps on fails the test, and says so', async () => {
  const asleep = { ...seven, status: ASLEEP };
  const plan = { variants: components, iterations: 1 };
  const response = await run({ invoke: () => asleep }, { plan, milliseconds: 31_000 });
  expect(response).toMatchObject({ Status: 'FAILED' });
  expect(response?.Reason).toMatch(/'seven' over rest to variant cats.*it sleeps/s);
});

test('a value that an answer must equal may be NaN, with others beside it', async () => {
  const [sample] = plan.samples;
  const samples = [
    { ...sample, expect: [{ equals: '{"x":[NaN,-Infinity]}' }] },
  ] as SmokeTestPlan['samples'];
  const answered = (text: string) => ({ invoke: () => ({ ...seven, body: Buffer.from(text) }) });
  const event = { plan: { samples, iterations: 1 } };
  const same = await run(answered('{"x":[NaN,-Infinity]}'), event);
  expect(same).toMatchObject({ Status: 'SUCCESS' });
  await standIn?.close();
  const other = await run(answered('{"x":[null,-Infinity]}'), event);
  expect(other?.Reason).toContain('expected {"x":[NaN,-Infinity]}, got {"x":[null,-Infinity]}');
});

/** Attributes that a template may name. */
const NAMES = (['rest', 'grpc', 'in-process'] as const).flatMap((one) => outputNames(one)).sort();

test.each<[string, Partial<StandInOptions>, { plan?: Partial<SmokeTestPlan> }]>([
  [
    'a failed check while the stack rolls back',
    {
      endpoint: () => ({ ...inService, EndpointStatus: 'Failed' }),
      stackStatus: () => 'UPDATE_ROLLBACK_IN_PROGRESS',
    },
    {},
  ],
  ['a plan without samples', {}, { plan: { samples: [] } }],
  ['an endpoint without variants to ask', {}, { plan: { variants: [], samples: [] } }],
  ['a plan with samples', {}, {}],
])('every output has a value: %s', async (_, options, event) => {
  const response = await run(options, event);
  expect(response?.Status).toBe('SUCCESS');
  const data = response?.Data as Record<string, string>;
  expect(Object.keys(data).sort()).toEqual(NAMES);
  for (const value of Object.values(data)) expect(value).not.toBe('');
  expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThanOrEqual(4096);
});

test('an answer with a long reason fits what CloudFormation takes', async () => {
  const FailureReason = '"\u00e9'.repeat(2000);
  const response = await run({
    endpoint: () => ({ ...inService, EndpointStatus: 'Failed', FailureReason }),
    stackStatus: () => 'UPDATE_ROLLBACK_IN_PROGRESS',
  });
  expect(response?.Status).toBe('SUCCESS');
  expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThanOrEqual(4096);
});

test('figures become outputs, metrics and a table', async () => {
  const data = (await run())?.Data as Record<string, string>;
  expect(data).toMatchObject({
    GrpcRequestBytes: '20',
    RestResponseBytes: '12',
    RestMeanMs: expect.stringMatching(/^[\d.]+$/),
    GrpcCostPerMillionUsd: expect.stringMatching(/^[\d.]+$/),
    InProcessMeanMs: 'not measured',
  });
  const lines = log.mock.calls.map(([line]) => String(line));
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    _aws: { CloudWatchMetrics: [{ Namespace: 'SmokeTest' }] },
    EndpointName: 'digits',
    Sample: 'seven',
    Transport: 'rest',
    Calls: 3,
  });
  expect(lines.at(-1)).toMatch(/^variant +sample +transport +calls +mean ms/);
});

test('an endpoint that changes is waited for', async () => {
  const states = ['Updating', 'InService'];
  const endpoint = () => ({ ...inService, EndpointStatus: states.shift() ?? 'InService' });
  expect(await run({ endpoint })).toMatchObject({ Status: 'SUCCESS' });
  expect(states).toEqual([]);
});

describe('DescribeEndpoint is called again', () => {
  // Without the pause between two looks.
  beforeEach(() => {
    const { setTimeout: wait } = globalThis;
    const soon = (done: () => void, ms?: number) => wait(done, ms === 5_000 ? 0 : ms);
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(soon as typeof setTimeout);
  });
  afterEach(() => jest.mocked(setTimeout).mockRestore());

  const looks = (first: () => Readonly<Record<string, unknown>>) => {
    let calls = 0;
    return () => (calls++ === 0 ? first() : inService);
  };

  test.each<[string, () => Readonly<Record<string, unknown>>]>([
    ['a refusal', () => DENIED],
    ['throttled calls', () => ({ __type: 'ThrottlingException', message: 'Rate exceeded' })],
    [
      'an error of the service',
      () => {
        throw new Error('no answer today');
      },
    ],
  ])('after %s', async (_, first) => {
    expect(await run({ endpoint: looks(first) })).toMatchObject({ Status: 'SUCCESS' });
  });

  test('after a connection that hangs', async () => {
    const timeout = jest
      .spyOn(AbortSignal, 'timeout')
      .mockImplementationOnce(() => AbortSignal.abort(new Error('the time is over')));
    expect(await run()).toMatchObject({ Status: 'SUCCESS' });
    const [[milliseconds = 0] = []] = timeout.mock.calls;
    expect(milliseconds).toBeLessThanOrEqual(10_000);
    timeout.mockRestore();
  });

  test('until the deadline, and then fails the deployment with the reason', async () => {
    const response = await run({ endpoint: () => DENIED }, { milliseconds: 31_000 });
    expect(response).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringMatching(
        /endpoint status: not known.*AccessDeniedException: .*DescribeEndpoint/,
      ),
    });
  });
});

test.each<[string, Partial<StandInOptions>, RegExp]>([
  [
    'a silent rollback',
    { endpoint: () => ({ ...inService, EndpointConfigName: 'config-1' }) },
    /endpoint configuration: expected config-2, got config-1: the update was rolled back/,
  ],
  [
    'an endpoint that failed',
    { endpoint: () => ({ EndpointStatus: 'Failed', FailureReason: 'no capacity' }) },
    /endpoint status: expected InService, got Failed \(no capacity\)/,
  ],
  [
    'another model',
    { invoke: () => ({ ...seven, customAttributes: 'tfs-fingerprint=ffff' }) },
    /sample 'seven' over rest to variant AllTraffic, call 1: fingerprint of the answering model: expected 0123456789abcdef, got ffff/,
  ],
  [
    'another container',
    { invoke: () => ({ ...seven, customAttributes: '' }) },
    /fingerprint of the answering model: expected 0123456789abcdef, got none/,
  ],
  [
    'a wrong class',
    { invoke: () => ({ ...seven, body: Buffer.from('{"digit": 1}') }) },
    /call 1: value at \$\.digit: expected 7, got 1/,
  ],
  [
    'a wrong class in a later call',
    {
      invoke: () =>
        invocations.length === 3 ? { ...seven, body: Buffer.from('{"digit": 1}') } : seven,
    },
    /call 3: value at \$\.digit: expected 7, got 1/,
  ],
  [
    'a request that the model refuses',
    { invoke: () => ({ ...seven, status: 400, body: Buffer.from('not a picture') }) },
    /call 1: status: expected 200, got 400: not a picture/,
  ],
  [
    'an answer that is not what its type says',
    { invoke: () => ({ ...seven, body: Buffer.from('<html>') }) },
    /sample 'seven' over rest to variant AllTraffic, call 1: .*JSON/,
  ],
])('%s fails the deployment', async (_, options, reason) => {
  const response = await run(options);
  expect(response?.Status).toBe('FAILED');
  expect(response?.Reason).toMatch(/^Smoke test failed: /);
  expect(response?.Reason).toMatch(reason);
});

test('a latency limit that is exceeded fails the deployment', async () => {
  const invoke = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return seven;
  };
  const slow = plan.samples.map((sample) => ({ ...sample, limits: { p95Ms: 5 } }));
  expect(await run({ invoke }, { plan: { samples: slow } })).toMatchObject({
    Status: 'FAILED',
    Reason: expect.stringMatching(/latency p95: expected at most 5 ms, got \d+\.\d ms/),
  });
});

test('deleting succeeds without asking anyone', async () => {
  const response = await run({ endpoint: () => ({}) }, { RequestType: 'Delete' });
  expect(response).toMatchObject({ Status: 'SUCCESS' });
  expect(invocations).toEqual([]);
});

test('a stack on its way back is not stopped by a failure', async () => {
  const response = await run(
    {
      invoke: () => ({ ...seven, status: 500 }),
      stackStatus: () => 'UPDATE_ROLLBACK_IN_PROGRESS',
    },
    { RequestType: 'Update' },
  );
  expect(response).toMatchObject({
    Status: 'SUCCESS',
    Reason: expect.stringContaining('the stack is rolling back'),
  });
});

describe('a rollback keeps the configuration in use', () => {
  const rollingBack = { stackStatus: () => 'UPDATE_ROLLBACK_IN_PROGRESS' };

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['SageMaker went back to the newer one', { ...inService, EndpointConfigName: 'config-3' }],
    ['another one failed', { EndpointStatus: 'Failed', EndpointConfigName: 'config-3' }],
    ['which one it will be is not known yet', { ...inService, EndpointStatus: 'Updating' }],
    ['its answer names none', {}],
  ])('%s', async (_, endpoint) => {
    const options = { ...rollingBack, endpoint: () => endpoint };
    const response = await run(options, { RequestType: 'Update', milliseconds: 31_000 });
    expect(response?.Status).toBe('FAILED');
    expect(response?.Reason).toContain(
      'aws sagemaker update-endpoint --endpoint-name digits --endpoint-config-name config-2',
    );
    expect(response?.Reason).toContain(
      'aws cloudformation continue-update-rollback --stack-name digits',
    );
    expect(response?.Reason).not.toContain('resources-to-skip');
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['a refusal', DENIED],
    ['a throttled call', { __type: 'ThrottlingException', message: 'Rate exceeded' }],
  ])('and is not stopped by %s until the deadline: nothing is known', async (_, endpoint) => {
    const options = { ...rollingBack, endpoint: () => endpoint };
    const response = await run(options, { RequestType: 'Update', milliseconds: 31_000 });
    expect(response?.Status).toBe('SUCCESS');
    expect(response?.Reason).toContain(`endpoint status: not known`);
    expect(response?.Reason).toContain(`${endpoint.message}`);
    expect(response?.Reason).toMatch(
      /The rollback continues.* Unless describe-endpoint shows config-2: aws sagemaker update-endpoint --endpoint-name digits --endpoint-config-name config-2$/,
    );
  });

  test('and is stopped by what was seen before the refusals', async () => {
    const states: Readonly<Record<string, unknown>>[] = [
      { ...inService, EndpointStatus: 'Updating' },
    ];
    const options = { ...rollingBack, endpoint: () => states.shift() ?? DENIED };
    const response = await run(options, { RequestType: 'Update', milliseconds: 36_000 });
    expect(response?.Status).toBe('FAILED');
    expect(response?.Reason).toContain('The rollback stops here');
  });

  test('and is not stopped where the endpoint is gone: nothing is in use', async () => {
    const options = { ...rollingBack, endpoint: () => undefined };
    const response = await run(options, { RequestType: 'Update' });
    expect(response?.Status).toBe('SUCCESS');
  });
});

test('a silent rollback names the resource that CloudFormation may have to skip', async () => {
  const endpoint = () => ({
    ...inService,
    EndpointConfigName: 'config-1',
    FailureReason: 'long '.repeat(1000),
  });
  const response = await run({ endpoint }, { plan: { endpointId: 'Endpoint1' } });
  expect(response?.Status).toBe('FAILED');
  expect(response?.Reason).toMatch(
    /aws cloudformation continue-update-rollback --stack-name digits --resources-to-skip Endpoint1$/,
  );
});

describe('an asynchronous endpoint', () => {
  const queue = {
    asyncInputUri: 's3://data/async-input/',
    variants: [{ name: 'AllTraffic', transports: ['grpc'] }],
    iterations: 1,
  } as const satisfies Partial<SmokeTestPlan>;
  // No custom attributes come back through the queue.
  const invoke = () => ({ ...seven, customAttributes: '' });

  test('gets its samples through S3, and its answers are checked there', async () => {
    const response = await run({ invoke }, { plan: queue });
    expect(response).toMatchObject({ Status: 'SUCCESS' });
    expect(response?.Data).toMatchObject({
      GrpcMeanMs: expect.stringMatching(/^[\d.]+$/),
      GrpcCostPerMillionUsd: 'unknown',
    });
    const asked = expect.objectContaining({
      contentType: 'application/x-image',
      customAttributes: 'tfs-transport=grpc',
      body: Buffer.from('a picture of a seven'),
    });
    expect(invocations).toEqual([asked, asked]);
  });

  test('is left without the samples', async () => {
    await run({ invoke }, { plan: queue });
    expect([...(standIn?.objects.keys() ?? [])]).toEqual([
      expect.stringMatching(/^\/data\/async-output\//),
      expect.stringMatching(/^\/data\/async-output\//),
    ]);
  });

  test.each<[string, ModelReply, RegExp]>([
    ['a wrong class', { ...invoke(), body: Buffer.from('{"digit": 1}') }, /expected 7, got 1/],
    [
      'a refusal',
      { ...invoke(), status: 400, body: Buffer.from('not a picture') },
      /call 1: status: expected 200, got not a picture/,
    ],
    [
      'a wrong class in an object without a type',
      { ...invoke(), contentType: 'binary/octet-stream', body: Buffer.from('{"digit": 1}') },
      /value at \$\.digit: expected 7, got 1/,
    ],
  ])('%s fails the deployment', async (_, reply, reason) => {
    const response = await run({ invoke: () => reply }, { plan: queue });
    expect(response).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringMatching(reason),
    });
  });

  test('that does not answer in time fails the deployment, and tells why that may be', async () => {
    const response = await run({ asleep: true }, { plan: queue, milliseconds: 31_500 });
    expect(response).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringMatching(
        /answer: expected one before .* got none at s3:.*needs minutes/,
      ),
    });
  });
});
