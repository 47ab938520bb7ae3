/** Messages of batch workers on the way, as a topic gets them. */
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { listening } from '../../../../test/support/listening.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../test-support.ts';

jest.setTimeout(120_000);

const COUNT = 200;
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:tiles';
const keyOf = (at: number) => `in/${String(at).padStart(3, '0')}.json`;

let s3: GeneratedS3;
beforeAll(async () => {
  const bodyOf = (at: number) => Buffer.from(`{"instances": [${at}]}`);
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } }, 50);
});
afterAll(() => s3?.close());

/** Runs workers one after the other; what the topic got of all. */
async function run(output: string, shares: readonly string[], status = 200) {
  const messages: URLSearchParams[] = [];
  const server: Server = createServer(async (request, response) => {
    messages.push(new URLSearchParams(await text(request)));
    response.writeHead(status, { 'content-type': 'text/xml' });
    const result = '<PublishResult><MessageId>1</MessageId></PublishResult>';
    const error = '<ErrorResponse><Error><Code>NotFound</Code></Error></ErrorResponse>';
    response.end(status === 200 ? `<PublishResponse>${result}</PublishResponse>` : error);
  });
  const sns = await listening(server);
  const outcomes = [];
  try {
    for (const share of shares) {
      outcomes.push(
        await sagemakerTfs(
          [
            ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', `s3://out/${output}/`],
            ...['--model', fixtureModel('half_plus_two').basePath, '--json', '--share', share],
            ...['--content-type', 'application/json', '--ranges', '20'],
            ...['--notices-at', '10,50,90', '--notice-topic', TOPIC],
          ],
          { ...s3.environment, AWS_ENDPOINT_URL_SNS: sns.url },
        ),
      );
    }
  } finally {
    await sns.close();
  }
  return { outcomes, messages: messages.map((message) => Object.fromEntries(message)) };
}

test('each percentage once for all workers, also where they are run again', async () => {
  const { outcomes, messages } = await run('shared', ['1/2', '2/2', '1/2']);
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(messages.map(({ Subject }) => Subject)).toEqual([
    ...['Batch worker 10% done', 'Batch worker 50% done', 'Batch worker 90% done'],
  ]);
  for (const [at, percent] of [10, 50, 90].entries()) {
    const { Action, TopicArn, Message = '' } = messages[at] ?? {};
    expect([Action, TopicArn]).toEqual(['Publish', TOPIC]);
    const notice = JSON.parse(Message) as { ranges: number; of: number };
    expect(notice).toMatchObject({ outputUri: 's3://out/shared/', percent });
    // No earlier, and at the first range that reaches it.
    expect(notice.ranges).toBe(Math.ceil((percent * notice.of) / 100));
  }
});

test('a topic that refuses changes nothing about the work', async () => {
  const { outcomes, messages } = await run('refused', ['1/1'], 404);
  expect(outcomes[0]?.exitCode).toBe(0);
  expect(JSON.parse(outcomes[0]?.stdout ?? '')).toMatchObject({ answers: COUNT, failures: 0 });
  expect(outcomes[0]?.stderr).toContain('a notice was not sent');
  expect(messages).toHaveLength(3);
});
