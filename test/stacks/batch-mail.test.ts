/** Every end of a batch run reaches its topic: by the machine, or by a rule for ends that no state can tell of. */
import type { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { type Service, StateError } from './asl.ts';
import { batchTemplate, machineOf, refused, run } from './batch-machine.ts';

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
])('under a key, whose events name no error: %s is told of: %s', (status, told) => {
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
