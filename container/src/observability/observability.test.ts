/** Logs and metrics of the runtime as it runs. */
import { createHash } from 'node:crypto';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { freePorts } from '../testing/ports.ts';
import { type RuntimeProcess, until } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const FINGERPRINT = createHash('sha256').update('model').digest('hex');
const MANIFEST = {
  manifestVersion: 1,
  packager: { name: 'test', version: '1' },
  fingerprint: FINGERPRINT,
  files: {},
  models: [{ name: 'half_plus_two', versions: ['1', '2'], signatures: {} }],
};

const start = useRuntimes();
let runtime: RuntimeProcess;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePorts(1);
  runtime = await start(
    {
      copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
      files: { 'code/manifest.json': JSON.stringify(MANIFEST), '1/inference.mjs': '' },
    },
    {
      SAGEMAKER_TFS_METRICS_PORT: String(metricsPort),
      SAGEMAKER_TFS_CLOUDWATCH_METRICS: 'true',
      SAGEMAKER_TFS_WAIT_TIME: '1',
    },
  );
});

const invoke = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });

test('every answer says which archive and version it is from, and where its time went if asked', async () => {
  const header = 'X-Amzn-SageMaker-Custom-Attributes';
  const plain = await invoke('{"instances": [1]}');
  const prefix = `tfs-fingerprint=${FINGERPRINT.slice(0, 16)},tfs-model-version=2`;
  expect(plain.headers.get(header)).toBe(prefix);
  const timed = await invoke('{"instances": [1]}', { [header]: 'tfs-timings=1' });
  expect(timed.headers.get(header)).toMatch(
    /tfs-timings=receive:[\d.]+;queue:[\d.]+;decode:[\d.]+;predict:[\d.]+;encode:[\d.]+$/,
  );
});

test('every request is one line with its id, model, version, transport, sizes and times', async () => {
  const id = { 'X-Amzn-SageMaker-Inference-Id': 'request-7' };
  await invoke('{"instances": [1]}', id);
  const line = () => runtime.log().find(({ requestId }) => requestId === 'request-7');
  await until(() => line() !== undefined);
  expect(line()).toMatchObject({
    level: 'info',
    status: 200,
    model: 'half_plus_two',
    version: '2',
    transport: 'grpc',
    requestBytes: 18,
    responseBytes: expect.any(Number),
    ms: { decode: expect.any(Number), predict: expect.any(Number) },
  });
});

test('metrics count requests by status', async () => {
  await invoke('{"instances": [1]}');
  await invoke('{"instances": ');
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const answered =
    'model="half_plus_two",version="2",content_type="application/json",transport="grpc",status="200"';
  expect(text).toMatch(new RegExp(`^sagemaker_tfs_requests_total\\{${answered}\\} [1-9]`, 'm'));
  expect(text).toMatch(/sagemaker_tfs_requests_total\{.*status="400"\} 1/);
  expect(text).toMatch(/sagemaker_tfs_request_part_seconds_count\{.*part="predict"\} [1-9]/);
  expect(text).toMatch(/^sagemaker_tfs_ready 1$/m);
  expect(text).toMatch(/^sagemaker_tfs_requests_in_flight 0$/m);
  expect(text).toMatch(/^sagemaker_tfs_resident_memory_bytes [1-9]\d{6,}$/m);
  expect(text).toMatch(/^sagemaker_tfs_errors_total\{model="half_plus_two",code="[A-Z_]+"\} 1$/m);
  expect(text).toMatch(/^sagemaker_tfs_held_bytes 0$/m);
  expect(text).toMatch(/^sagemaker_tfs_model_server_restarts_total 0$/m);
});

test("SageMaker's own port answers the metrics, in the format that its collector reads", async () => {
  const response = await fetch(`${runtime.url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n');
  const sample = /^[a-z_]+(\{([a-z_]+="[^"\n]*",?)+\})? (\d+(\.\d+)?(e[+-]?\d+)?|NaN|\+Inf)$/;
  expect(lines.filter((line) => !/^(#.*)?$/.test(line) && !sample.test(line))).toEqual([]);
  expect(lines).toContain('sagemaker_tfs_ready 1');
});

const OPEN_METRICS = {
  Accept:
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1',
};

test('a collector that takes OpenMetrics gets a request for each bucket, by the id that is in the log', async () => {
  await invoke('{"instances": [1]}', { 'X-Amzn-SageMaker-Inference-Id': 'as "quoted"' });
  await invoke('{"instances": [1]}', { 'X-Amzn-SageMaker-Inference-Id': 'newest' });
  const answer = await fetch(`${runtime.url}/metrics`, { headers: OPEN_METRICS });
  expect(answer.headers.get('Content-Type')).toBe(
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  );
  const text = await answer.text();
  const page = text.split('\n');
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  expect(page).toContain('# TYPE sagemaker_tfs_requests counter');
  const bucket =
    /_part_seconds_bucket\{le="([^"]+)",.*part="predict"\} \d+ # \{request_id="(.*)"\} (\S+) (\S+)$/;
  const found = page.flatMap((line) => {
    const [, le = '', id, seconds, at] = bucket.exec(line) ?? [];
    return id === undefined ? [] : [{ le, id, seconds: Number(seconds), at: Number(at) }];
  });
  expect(found.map(({ id }) => id)).toContain('newest');
  for (const { le, seconds, at } of found) {
    expect(seconds).toBeLessThanOrEqual(le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le));
    expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(600);
  }
  expect(text).not.toContain('quoted');
  expect(text).toContain('le="10.0"');
  expect(text).not.toMatch(/le="\d+"/);
});

test('a client cannot make series without end', async () => {
  const types = Array.from({ length: 20 }, (_, index) => `application/x-made-up-${index}`);
  await Promise.all(types.map((type) => invoke('x', { 'Content-Type': type })));
  const page = async () => (await fetch(`${runtime.url}/metrics`)).text();
  await until(async () => /content_type="other".*status="415"\} 20/.test(await page()));
  expect(await page()).not.toContain('made-up');
});

test('what is configured wrongly or lies in the wrong place is warned of', () => {
  const warnings = runtime
    .log()
    .filter(({ level }) => level === 'warn')
    .map(({ msg }) => String(msg));
  expect(warnings).toEqual(
    expect.arrayContaining([
      expect.stringContaining('Did you mean SAGEMAKER_TFS_WAIT_TIME_SECONDS?'),
      expect.stringMatching(
        /1\/inference\.mjs is ignored: a handler must be .*code\/inference\.mjs/,
      ),
    ]),
  );
});

test('CloudWatch lines follow the embedded metric format', async () => {
  await runtime.end('SIGTERM');
  const line = runtime.log().find((entry) => '_aws' in entry);
  expect(line).toMatchObject({
    _aws: {
      Timestamp: expect.any(Number),
      CloudWatchMetrics: [
        {
          Namespace: 'SageMakerTensorFlowServing',
          Dimensions: [['Model']],
          Metrics: expect.any(Array),
        },
      ],
    },
    Model: expect.any(String),
    PredictMs: expect.any(Array),
  });
});
