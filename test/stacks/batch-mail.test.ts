/** Every end of a batch run reaches its topic: by the machine, or by a rule for ends that no state can tell of. */
import type { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { type Service, StateError } from './asl.ts';
import {
  batchTemplate,
  functionOn,
  machineOf,
  refused,
  run,
  writeOutputs,
} from './batch-machine.ts';
import { type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

const template = batchTemplate((stack) => ({ topic: new Topic(stack, 'Topic') }));
const machine = machineOf(template);

/** An execution's output, with what it published. */
async function runWithMail(input: object, transform?: () => unknown, failures = 0) {
  const messages: string[] = [];
  let left = failures;
  const service: Service = (resource, args) => {
    if (!resource.endsWith('sns:publish')) return {};
    if (left-- > 0) throw new StateError('Sns.SdkClientException', 'Connection reset');
    messages.push((args as { Subject: string; Message: string }).Subject);
    return {};
  };
  const { output } = await run(machine, input, transform, service);
  return { messages, output };
}

test.each<[string, object, (() => unknown) | undefined]>([
  ['an input that is refused', { instanceCount: 0 }, undefined],
  [
    'a job that is refused',
    {},
    () => {
      throw refused('Could not find model');
    },
  ],
])('%s', async (_, input, transform) => {
  const { messages, output } = await runWithMail(input, transform);
  expect(output).toBeInstanceOf(StateError);
  expect(messages).toEqual(['Batch transform failed']);
});

test('success, also where the first calls of the topic have no answer', async () => {
  const { messages } = await runWithMail({}, undefined, 3);
  expect(messages).toEqual(['Batch transform succeeded']);
});

test('a topic that cannot be reached changes nothing about the work', async () => {
  const { messages, output } = await runWithMail({}, undefined, 100);
  expect(messages).toEqual([]);
  expect(output).not.toBeInstanceOf(StateError);
});

/** Whether EventBridge's pattern takes an event: lists of values, prefixes and `$or`. */
function takes(pattern: object, event: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(pattern).every(([field, wanted]: [string, unknown]) => {
    if (field === '$or') return (wanted as object[]).some((one) => takes(one, event));
    const value = event[field];
    if (!Array.isArray(wanted)) {
      return takes(wanted as object, (value ?? {}) as Readonly<Record<string, unknown>>);
    }
    return wanted.some((one: unknown) =>
      typeof one === 'object' && one && 'prefix' in one
        ? typeof value === 'string' && value.startsWith(String(one.prefix))
        : one === value || (typeof one === 'object' && value === 'the machine'),
    );
  });
}

function ruleOf(made: Template) {
  const rules = Object.values(made.findResources('AWS::Events::Rule')).map(
    ({ Properties }) =>
      Properties as { Description: string; EventPattern: object; Targets: object },
  );
  return rules.find(({ Description }) => Description.startsWith('Tells'));
}

const rule = ruleOf(template);

test.each<[status: string, error: string | null, told: boolean]>([
  ['ABORTED', null, true],
  ['TIMED_OUT', 'States.Timeout', true],
  ['FAILED', 'States.Runtime', true],
  ['FAILED', 'States.DataLimitExceeded', true],
  // The machine has told of these.
  ['FAILED', 'InvalidInput', false],
  ['FAILED', 'TransformFailed', false],
  ['SUCCEEDED', null, false],
  ['RUNNING', null, false],
])('the rule, %s with %s: %s', (status, error, told) => {
  const event = {
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: { stateMachineArn: 'the machine', status, error },
  };
  expect(takes(rule?.EventPattern ?? {}, event)).toBe(told);
});

test.each<[status: string, told: boolean]>([
  ['FAILED', true],
  ['ABORTED', true],
  ['TIMED_OUT', true],
  ['SUCCEEDED', false],
])('under a key, whose events name no error: %s is reported: %s', (status, told) => {
  const encrypted = batchTemplate((stack) => ({
    topic: new Topic(stack, 'Topic'),
    encryptionKey: new Key(stack, 'Key'),
  }));
  const event = {
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: { stateMachineArn: 'the machine', status },
  };
  expect(takes(ruleOf(encrypted)?.EventPattern ?? {}, event)).toBe(told);
});

test('the rule publishes by a role of its own, so a topic from elsewhere needs no policy', () => {
  expect(JSON.stringify(rule?.Targets)).toMatch(/"Arn":\{"Ref":"Topic\w+"\}.*"RoleArn"/);
  template.hasResourceProperties('AWS::IAM::Role', {
    AssumeRolePolicyDocument: {
      Statement: [{ Principal: { Service: 'events.amazonaws.com' } }],
    },
  });
});

describe('notices on the way', () => {
  const SHARDS = 11;
  const withNotices = machineOf(
    batchTemplate((stack) => ({
      topic: new Topic(stack, 'Topic'),
      noticesAt: [10, 50, 90],
      sharding: { objectsPerShard: 3, maxConcurrentJobs: 1 },
    })),
  );
  let s3: S3StandIn;
  beforeEach(async () => {
    s3 = await startS3ForSdk(50);
    for (let i = 0; i < 3 * SHARDS; i++) {
      const path = `data/input/${String(i).padStart(2, '0')}.jpg`;
      s3.objects.set(path, Buffer.from('x'));
      s3.modified.set(path, s3.now);
    }
  });
  afterEach(() => s3.close());

  /** Messages of a run; @param fails for which messages the topic has no answer */
  async function mailOf(transform = writeOutputs(s3), fails = false) {
    const mail: { Subject: string; Message: string }[] = [];
    const service: Service = (resource, args) => {
      if (resource.endsWith('describeExecution')) return { Status: 'FAILED' };
      if (!resource.endsWith('sns:publish')) return functionOn(s3)(resource, args);
      if (fails) throw new StateError('Sns.SdkClientException', 'Connection reset');
      mail.push(args as { Subject: string; Message: string });
      return {};
    };
    const { output } = await run(withNotices, { runId: 'r' }, transform, service);
    return { mail, output };
  }

  test('each percentage once, with the counts, also in a run that continues', async () => {
    const { mail } = await mailOf();
    expect(mail.map(({ Subject }) => Subject)).toEqual([
      ...['Batch transform 10% done', 'Batch transform 50% done', 'Batch transform 90% done'],
      'Batch transform succeeded',
    ]);
    const details = mail.map(({ Message }) => JSON.parse(Message).detail as { inputs?: number });
    // The first whole shards beyond 3.3, 16.5 and 29.7 inputs.
    expect(details.slice(0, 3)).toEqual(
      [6, 18, 30].map((inputs, i) => ({
        execution: expect.any(String),
        ...{ percent: [10, 50, 90][i], inputs, of: 33, runId: 'r' },
      })),
    );
    const again = await mailOf();
    expect(again.mail.map(({ Subject }) => Subject)).toEqual(['Batch transform succeeded']);
  });

  test('inputs without an output count as dealt with', async () => {
    const { mail } = await mailOf(writeOutputs(s3, ['00.jpg', '15.jpg']));
    expect(mail.map(({ Subject }) => Subject)).toContain('Batch transform 90% done');
  });

  test('a topic that cannot be reached changes nothing about the work', async () => {
    const { output } = await mailOf(writeOutputs(s3), true);
    expect(output).toMatchObject({ done: 3 * SHARDS, missing: 0 });
  });

  test.each([
    [[0], 'noticesAt[0]'],
    [[50, 100], 'noticesAt[1]'],
    [[10.5], 'noticesAt[0]'],
  ])('%j is refused', (noticesAt, message) => {
    const make = () => batchTemplate((stack) => ({ topic: new Topic(stack, 'Topic'), noticesAt }));
    expect(make).toThrow(message);
    expect(() => batchTemplate(() => ({ noticesAt: [10] }))).toThrow('there is no topic');
  });
});
