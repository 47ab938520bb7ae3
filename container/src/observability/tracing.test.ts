/** Spans of the runtime as it runs: in its log, and at a collector. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { predict } from '../../../client/src/index.ts';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { listening } from '../../../test/support/listening.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';
import { exportOf, type Span, spansOf, type TracedRequest } from './spans.ts';
import { parseTraceParent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const BODY = '{"instances": [1]}';

type Export = ReturnType<typeof exportOf>;
const spansIn = ({ resourceSpans }: Export): readonly Span[] =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

/** Attributes of a span, by name. */
function attributes(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  );
}

describe('a parent', () => {
  test.each([
    [PARENT, true],
    [PARENT.replace('-01', '-00'), false],
    [`cc-${TRACE}-${SPAN}-01-more-to-come`, true],
  ])('%s', (text, sampled) => {
    const parent = { traceId: TRACE, spanId: SPAN, sampled, state: 'a=b' };
    expect(parseTraceParent(text, 'a=b')).toEqual(parent);
  });

  test.each([
    '',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    PARENT.toUpperCase(),
    `${PARENT}-more`,
    PARENT.slice(1),
    '-'.repeat(100_000),
  ])('is none: %.60s', (text) => {
    expect(parseTraceParent(text)).toBeUndefined();
  });

  test('keeps no endless state', () => {
    expect(parseTraceParent(PARENT, 'a'.repeat(513))?.state).toBe('');
  });
});

test('parts lie behind each other within the request, and those without time are left out', () => {
  const request: TracedRequest = {
    requestId: 'r',
    path: '/invocations',
    startedAt: 1_790_000_000_000.25,
    milliseconds: 12,
    timings: { receive: 1, queue: 0, decode: 2, predict: 5, encode: 3 },
    status: 500,
    errorCode: 'HANDLER_FAILED',
    model: 'm'.repeat(5000),
    version: undefined,
    transport: 'grpc',
    requestBytes: undefined,
    responseBytes: 7,
  };
  const [root, ...parts] = spansOf(request, undefined);
  expect(root).toMatchObject({ kind: 2, status: { code: 2 } });
  expect(root?.startTimeUnixNano).toBe('1790000000000250000');
  expect(root).not.toHaveProperty('parentSpanId');
  expect(attributes(root)['error.type']).toBe('HANDLER_FAILED');
  expect(parts.map(({ name }) => name)).toEqual(['receive', 'decode', 'predict', 'encode']);
  expect(parts[0]?.startTimeUnixNano).toBe(root?.startTimeUnixNano);
  for (const [i, part] of parts.slice(1).entries()) {
    expect(part.startTimeUnixNano).toBe(parts[i]?.endTimeUnixNano);
  }
  expect(BigInt(parts.at(-1)?.endTimeUnixNano ?? 0)).toBeLessThan(
    BigInt(root?.endTimeUnixNano ?? 0),
  );
  const ids = [root, ...parts].map((span) => span?.spanId);
  expect(new Set(ids).size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  // One write to a pipe that several processes share.
  expect(JSON.stringify(exportOf(spansOf(request, undefined))).length).toBeLessThan(3800);
});

describe('the runtime', () => {
  let modelDir: string;
  let remove: () => Promise<void>;
  let runtime: RuntimeProcess | undefined;

  beforeAll(async () => {
    const copies = { half_plus_two: fixtureModel('half_plus_two').basePath };
    ({ directory: modelDir, remove } = await createModelDir({ copies }));
  });
  afterEach(async () => {
    await runtime?.end('SIGKILL');
    runtime = undefined;
  });
  afterAll(() => remove());

  async function start(variables: Record<string, string>): Promise<RuntimeProcess> {
    runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: modelDir, ...variables });
    await runtime.ready();
    return runtime;
  }

  const traces = ({ log }: RuntimeProcess) =>
    log().filter(({ msg }) => msg === 'trace') as unknown as Export[];
  const ask = ({ url }: RuntimeProcess, headers: Record<string, string>, body = BODY) =>
    fetch(`${url}/invocations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });

  test('writes a line for each request, in the trace of the caller, whatever else is silenced', async () => {
    const one = await start({ SAGEMAKER_TFS_TRACES: 'log', SAGEMAKER_TFS_LOG_LEVEL: 'error' });
    const before = Date.now();
    await predict({ url: one.url }, BODY, {
      customAttributes: { traceparent: PARENT, tracestate: 'vendor=1,other=2', timings: true },
    });
    await until(() => traces(one).length === 1);
    const [root, ...parts] = spansIn(traces(one)[0] as Export);
    expect(root).toMatchObject({
      traceId: TRACE,
      parentSpanId: SPAN,
      traceState: 'vendor=1,other=2',
      name: 'POST /invocations',
    });
    expect(attributes(root)).toMatchObject({
      'sagemaker_tfs.model': 'half_plus_two',
      'sagemaker_tfs.transport': 'grpc',
      'http.response.status_code': '200',
      'http.request.body.size': String(BODY.length),
    });
    expect(Number(root?.startTimeUnixNano) / 1e6).toBeGreaterThan(before - 1000);
    expect(Number(root?.endTimeUnixNano) / 1e6).toBeLessThan(Date.now() + 1000);
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['decode', 'predict']));
    for (const part of parts) {
      expect(part).toMatchObject({ traceId: TRACE, parentSpanId: root?.spanId });
    }
    // A header of its own for callers without SageMaker between; a caller that keeps nothing; a refusal.
    await ask(one, { traceparent: `00-${'1'.repeat(32)}-${SPAN}-01` });
    await ask(one, { traceparent: `00-${'2'.repeat(32)}-${SPAN}-00` });
    await ask(one, { traceparent: 'nonsense' }, 'no json');
    await until(() => traces(one).length === 3);
    const roots = traces(one).map((line) => spansIn(line)[0]);
    expect(roots[1]?.traceId).toBe('1'.repeat(32));
    expect(roots[2]).not.toHaveProperty('parentSpanId');
    expect(attributes(roots[2])).toMatchObject({
      'error.type': 'BAD_INPUT',
      'http.response.status_code': '400',
    });
  });

  test('writes none unless it is asked to', async () => {
    const one = await start({});
    await ask(one, { traceparent: PARENT });
    await until(() => one.log().some(({ msg }) => msg === 'invocation'));
    expect(traces(one)).toEqual([]);
  });

  test('traces callers that ask for it and no others at a ratio of 0', async () => {
    const one = await start({ SAGEMAKER_TFS_TRACES: 'log', SAGEMAKER_TFS_TRACE_RATIO: '0' });
    for (let i = 0; i < 5; i++) await ask(one, {});
    await ask(one, { traceparent: PARENT });
    await until(() => traces(one).length > 0);
    expect(traces(one)).toHaveLength(1);
  });

  test('sends spans to a collector, the last ones when it ends, and answers without one', async () => {
    const got: Export[] = [];
    let status = 503;
    const collector = await listening(
      createServer(async (request: IncomingMessage, response: ServerResponse) => {
        expect([request.method, request.url]).toEqual(['POST', '/base/v1/traces']);
        expect(request.headers['content-type']).toBe('application/json');
        const sent = JSON.parse(String(await buffer(request))) as Export;
        if (status === 200) got.push(sent);
        response.writeHead(status).end('{}');
      }),
    );
    const one = await start({ SAGEMAKER_TFS_OTLP_ENDPOINT: `${collector.url}/base/` });
    expect((await ask(one, { traceparent: PARENT })).status).toBe(200);
    await until(() => one.output().includes('spans are dropped: the collector answered 503'));
    status = 200;
    await ask(one, { traceparent: PARENT });
    await until(() => got.length === 1);
    await ask(one, { traceparent: PARENT });
    await one.end('SIGTERM');
    expect(got.flatMap(spansIn).filter(({ kind }) => kind === 2)).toHaveLength(2);
    expect(traces(one)).toEqual([]);
    await collector.close();
  });

  test('does not start with an address that is none', async () => {
    const one = await startRuntimeProcess({
      SAGEMAKER_TFS_MODEL_DIR: modelDir,
      SAGEMAKER_TFS_OTLP_ENDPOINT: 'collector:4318',
    });
    expect(await one.exit).not.toBe(0);
    expect(one.output()).toContain('SAGEMAKER_TFS_OTLP_ENDPOINT is "collector:4318"');
  });
});
