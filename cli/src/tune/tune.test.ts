import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSageMaker } from '../batch/aws/sagemaker-stand-in.ts';
import { ROOT, sagemakerTfs, startStub } from '../batch/test-support.ts';
import { freePort } from '../serving/free-port.ts';
import { isHighestTried, kneeOf, type Point } from './point.ts';
import { powersOfTwo } from './sweep.ts';
import { settingsOf, writeSettings } from './write-settings.ts';

let work: string;
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'tune-'));
});
afterEach(() => rm(work, { recursive: true, force: true }));

const point = (
  concurrency: number,
  imagesPerSecond: number,
  p95: number,
  more: Partial<Point> = {},
): Point => ({
  where: 'local',
  batchSize: 1,
  concurrency,
  imagesPerSecond,
  p50: p95 / 2,
  p95,
  errors: 0,
  ...more,
});

describe('the knee', () => {
  const curve = [point(1, 100, 10), point(2, 190, 11), point(4, 290, 14), point(8, 300, 27)];

  test('is the lowest latency within 5% of the best throughput', () => {
    expect(kneeOf(curve)?.concurrency).toBe(4);
  });

  test('keeps to the latency asked for, and to settings without errors', () => {
    expect(kneeOf(curve, 12)?.concurrency).toBe(2);
    expect(kneeOf([...curve, point(16, 500, 5, { errors: 1 })])?.concurrency).toBe(4);
    expect(kneeOf(curve, 5)).toBeUndefined();
  });
});

test('whether more than the knee was tried, with its settings', () => {
  const rising = [point(1, 100, 10), point(2, 190, 11)];
  expect(isHighestTried(point(2, 190, 11), rising)).toBe(true);
  expect(isHighestTried(point(2, 190, 11), [...rising, point(4, 191, 20)])).toBe(false);
  expect(isHighestTried(point(2, 190, 11), [...rising, point(4, 9, 9, { batchSize: 8 })])).toBe(
    true,
  );
  const { concurrency: _, ...chosenByAws } = point(2, 190, 11);
  expect(isHighestTried(chosenByAws, [chosenByAws])).toBe(false);
});

test('concurrencies are the powers of two up to the most, and the most', () => {
  expect(powersOfTwo(8)).toEqual([1, 2, 4, 8]);
  expect(powersOfTwo(12)).toEqual([1, 2, 4, 8, 12]);
  expect(powersOfTwo(1)).toEqual([1]);
});

describe('writing the configuration', () => {
  const knee = point(16, 300, 9, { server: { maxBatchSize: 8, decodeThreads: 6 } });

  test('changes what was found, and leaves comments and all else', async () => {
    const file = join(work, 'serving.config.ts');
    await cp(join(ROOT, 'serving.config.ts'), file);
    const before = await readFile(file, 'utf8');
    await writeSettings(file, settingsOf(knee));
    const after = await readFile(file, 'utf8');
    expect(after.split('\n')[0]).toBe(before.split('\n')[0]);
    const added = after.split('\n').filter((line) => !before.includes(line.trim()));
    expect(added.join('\n')).toMatch(/maxConcurrentTransforms: 16/);
    expect(after).toMatch(/SAGEMAKER_TFS_ENABLE_BATCHING: ['"]true['"]/);
    expect(after).toMatch(/UV_THREADPOOL_SIZE: ['"]6['"]/);
    expect(after).toMatch(/SAGEMAKER_TFS_DECODE_THREADS: ['"]6['"]/);
    for (const line of before.split('\n').filter((text) => !/batch:/.test(text))) {
      expect(after).toContain(line.trim());
    }
  });

  test('a name that is not there, or a file of another shape, is refused and stays as it was', async () => {
    const file = join(work, 'serving.config.ts');
    await cp(join(ROOT, 'serving.config.ts'), file);
    await expect(writeSettings(file, settingsOf(knee), 'nobody')).rejects.toMatchObject({
      code: 'USAGE',
    });
    await writeFile(file, 'export default make();\n');
    await expect(writeSettings(file, settingsOf(knee))).rejects.toMatchObject({
      code: 'CONFIG_NOT_WRITTEN',
    });
    expect(await readFile(file, 'utf8')).toBe('export default make();\n');
  });
});

test('a sweep over a served model: every setting measured, charted, and the knee written', async () => {
  const digits = join(ROOT, 'examples/digits');
  const settings = join(work, 'tuned.json');
  const chart = join(work, 'tune.svg');
  const { stdout, exitCode } = await sagemakerTfs([
    ...['tune', join(digits, 'samples'), '--content-type', 'application/x-image'],
    ...['--model', join(digits, 'model'), '--handler', join(digits, 'inference.ts')],
    ...['--max-concurrency', '2', '--max-batch-sizes', '0,8', '--seconds', '1'],
    ...['--decode-threads', '3'],
    ...['--chart', chart, '--write', settings, '--json'],
  ]);
  expect(exitCode).toBe(0);
  const { points, knee } = JSON.parse(stdout) as { points: Point[]; knee: Point };
  expect(points.map(({ server, concurrency }) => [server?.maxBatchSize, concurrency])).toEqual([
    [0, 1],
    [0, 2],
    [8, 1],
    [8, 2],
  ]);
  for (const { server, imagesPerSecond, p50, errors } of points) {
    expect(server?.decodeThreads).toBe(3);
    expect(imagesPerSecond).toBeGreaterThan(1);
    expect(p50).toBeGreaterThan(0);
    expect(errors).toBe(0);
  }
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual(settingsOf(knee));
  expect(await readFile(chart, 'utf8')).toContain('Throughput against latency');
});

test('something that serves already is measured as it is, each sample with its own type, errors counted', async () => {
  let calls = 0;
  const sent = new Set<string>();
  const stub = await startStub((body, response, { headers }) => {
    sent.add(`${body} as ${headers['content-type']}`);
    return ++calls % 10 === 0 ? void response.writeHead(400).end('{"error":"no"}') : '{}';
  });
  const samples = { 'a.json': '{"instances":[1]}', 'b.csv': '1,2' };
  for (const [name, body] of Object.entries(samples)) await writeFile(join(work, name), body);
  const grid = ['--max-concurrency', '2', '--seconds', '1', '--json'];
  const { stdout } = await sagemakerTfs(['tune', work, '--url', stub.url, ...grid]);
  await stub.close();
  expect([...sent].sort()).toEqual(['1,2 as text/csv', '{"instances":[1]} as application/json']);
  const { points, code, error } = JSON.parse(stdout);
  expect(code).toBe('NO_KNEE');
  // Nobody asked for a latency.
  expect(error).toMatch(/^requests failed at every setting, the last with: .*no.*\. Correct that/s);
  expect(points).toHaveLength(2);
  expect(points[0].errors).toBeGreaterThan(0);
});

describe('samples that are refused are named before anything is measured', () => {
  const tune = async (...bodies: string[]) => {
    const stub = await startStub((body, response) =>
      body.includes('bad') ? void response.writeHead(400).end('{"error":"no picture"}') : '{}',
    );
    const files = bodies.map((_, at) => join(work, `${at}.json`));
    await Promise.all(files.map((file, at) => writeFile(file, bodies[at] ?? '')));
    const { stdout, exitCode } = await sagemakerTfs(['tune', work, '--url', stub.url, '--json']);
    await stub.close();
    expect(exitCode).toBe(1);
    expect(stub.bodies).toHaveLength(bodies.length);
    return JSON.parse(stdout) as { code: string; error: string };
  };

  test('one of several', async () => {
    const { code, error } = await tune('good', 'bad', 'good');
    expect(code).toBe('TUNE_FAILED');
    expect(error).toMatch(
      /^one of 3 samples was refused, \S+\/1\.json: .*no picture.* Leave it out/s,
    );
  });
  test('more than a message holds', async () => {
    const { error } = await tune('bad', 'bad', 'good', 'bad', 'bad');
    expect(error).toMatch(
      /^4 of 5 samples were refused, \S+0\.json, \S+1\.json, \S+3\.json and 1 more,/,
    );
  });
  test('all of them', async () => {
    const { error } = await tune('bad', 'bad');
    expect(error).toMatch(/^every sample was refused, \S+0\.json with: .*--content-type\.$/s);
  });
});

test('nothing is there to be measured: what to start', async () => {
  const sample = join(work, 'a.json');
  await writeFile(sample, '{}');
  const url = `http://127.0.0.1:${await freePort()}`;
  const { stdout } = await sagemakerTfs(['tune', sample, '--url', url, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'NO_RUNTIME' });
});

test('Inference Recommender answers in the same table', async () => {
  let looks = 0;
  const standIn = await startSageMaker(() => ({
    Status: ++looks < 1 ? 'IN_PROGRESS' : 'COMPLETED',
    InferenceRecommendations: [
      {
        EndpointConfiguration: {
          InstanceType: 'ml.c6i.large',
          EndpointName: 'e',
          VariantName: 'v',
        },
        Metrics: { MaxInvocations: 6_000, ModelLatency: 12, CostPerInference: 0.0000005 },
        ModelConfiguration: {},
      },
    ],
  }));
  const { stdout } = await sagemakerTfs(
    [
      ...[
        'tune',
        '--recommend',
        'digits',
        '--role-arn',
        'arn:aws:iam::123456789012:role/role-name',
      ],
      ...[
        '--sample-payload',
        's3://bucket/samples.tar.gz',
        '--content-type',
        'application/x-image',
        '--instance-type',
        'ml.c6i.large',
        '--json',
      ],
    ],
    {
      AWS_ENDPOINT_URL_SAGEMAKER: standIn.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  );
  await standIn.close();
  expect(standIn.calls[0]).toBe('CreateInferenceRecommendationsJob');
  expect(JSON.parse(stdout).points).toEqual([
    {
      where: 'ml.c6i.large',
      batchSize: 1,
      imagesPerSecond: 100,
      p50: 12,
      errors: 0,
      dollarsPerMillion: 0.5,
    },
  ]);
});
