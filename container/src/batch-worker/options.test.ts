import { readOptions, shareOfHost } from './options.ts';

test('each host of a Processing job has its share', () => {
  const hosts = ['algo-2', 'algo-1', 'algo-3'];
  const shares = hosts.map((current_host) => shareOfHost(JSON.stringify({ current_host, hosts })));
  expect(shares).toEqual([1, 0, 2].map((index) => ({ index, of: 3 })));
});

test.each([
  ['a host that is not among them', '{"current_host": "algo-4", "hosts": ["algo-1", "algo-2"]}'],
  ['no hosts', '{"current_host": "algo-1"}'],
  ['names that are no text', '{"current_host": 1, "hosts": [1, 2]}'],
  ['no JSON', 'algo-1'],
])('a file that does not say which host this is ends the worker: %s', (_name, text) => {
  expect(() => shareOfHost(text)).toThrow(
    expect.objectContaining({ code: 'WORKER_USAGE', message: expect.stringContaining('--share') }),
  );
});

test.each([
  ['s3://a/in/', 's3://a/in/'],
  ['s3://a/in/', 's3://a/in'],
  ['s3://a/in/tiles', 's3://a/in/'],
  ['s3://a/in/', 's3://a/'],
])('inputs %s that hold the output %s are refused', (input, output) => {
  const args = [`--input=${input}`, `--output=${output}`, '--content-type=application/json'];
  expect(() => readOptions(args, 1, {})).toThrow('--output');
});

test.each([
  ['s3://a/in/', 's3://a/in/answers/'],
  ['s3://a/in/', 's3://a/in2/'],
  ['s3://a/in/', 's3://b/in/'],
  ['s3://a/out/redrive.manifest', 's3://a/out/'],
])('inputs %s beside the output %s are taken', (input, output) => {
  const args = [`--input=${input}`, `--output=${output}`, '--content-type=application/json'];
  expect(readOptions(args, 1, {})).toMatchObject({ inputUri: input, outputUri: output });
});

describe('notices', () => {
  const TOPIC = 'arn:aws:sns:us-east-1:123456789012:tiles';
  const read = (...more: string[]) =>
    readOptions(
      ['--input=s3://a/in/', '--output=s3://a/out/', '--content-type=application/json', ...more],
      1,
      {},
    );

  test('percentages and their topic', () => {
    expect(read('--notices-at=10,50', `--notice-topic=${TOPIC}`)).toMatchObject({
      ...{ noticesAt: [10, 50], noticeTopic: TOPIC },
    });
    expect(read()).toMatchObject({ noticesAt: [], noticeTopic: undefined });
  });

  test.each([
    [['--notices-at=10']],
    [[`--notice-topic=${TOPIC}`]],
    [['--notices-at=10', '--notice-topic=tiles']],
    [['--notices-at=0', `--notice-topic=${TOPIC}`]],
    [['--notices-at=10,', `--notice-topic=${TOPIC}`]],
    [['--notices-at=10,100', `--notice-topic=${TOPIC}`]],
  ])('%j is refused', (args) => {
    expect(() => read(...args)).toThrow(/--notice/);
  });
});
