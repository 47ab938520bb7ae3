/** The pool: what waits for the model server, what is retried, and what is not. */
import type { BatchContext } from '@sagemaker-tfs/libtensorflow/joining';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import {
  availableAnswer,
  type GrpcStub,
  STATUS_PATH,
  type StubAnswer,
  startGrpcStub,
} from '../testing/grpc-stub.ts';
import { until } from '../testing/runtime-process.ts';
import { UnusableReply } from '../transport/unusable-reply.ts';
import { InstancePool, type InstancePoolOptions } from './instance-pool.ts';

const PATH = '/test/Call';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Calls that the server works on, oldest first; each is answered by the test. */
interface Calls {
  readonly stub: GrpcStub;
  readonly pool: InstancePool;
  readonly open: { message: string; answer: (answer: StubAnswer) => void }[];
  /** In the order of their arrival. */
  readonly seen: string[];
  status: StubAnswer | Promise<StubAnswer>;
}

async function poolOnStub(
  options: Partial<InstancePoolOptions> = {},
  onCall?: (message: string, calls: Calls) => StubAnswer | undefined,
): Promise<Calls> {
  const open: Calls['open'] = [];
  const seen: string[] = [];
  const stub = await startGrpcStub(async (path, message) => {
    if (path === STATUS_PATH) return calls.status;
    seen.push(message);
    const answer = onCall?.(message, calls);
    return answer ?? new Promise((resolve) => open.push({ message, answer: resolve }));
  });
  const endpoint = { host: '127.0.0.1', grpcPort: stub.port, restPort: 0, grpcSocket: '' };
  const pool = new InstancePool({
    endpoints: [endpoint],
    models: ['m'],
    maxReplyBytes: 1000,
    maxInFlight: 2,
    waitMs: 20_000,
    stuckMs: 60_000,
    onLoadFailure: () => undefined,
    ...options,
  });
  const calls: Calls = { stub, pool, open, seen, status: availableAnswer() };
  cleanups.push(() => {
    pool.close();
    stub.close();
  });
  pool.start(0);
  await pool.whenReady();
  return calls;
}

function call(
  { pool }: Calls,
  message: string,
  signal?: AbortSignal,
  batch?: BatchContext,
): Promise<string> {
  return pool
    .use(
      ({ channel }, onAbandoned) =>
        channel.call({ path: PATH, message: [Buffer.from(message)], signal, onAbandoned }),
      { signal, batch },
    )
    .then((reply) => reply.toString());
}

const reply = (text: string) => Buffer.from(text);
const EXHAUSTED = {
  status: GrpcStatus.RESOURCE_EXHAUSTED,
  message: 'Server Threadpool Exhausted',
};

test('no more calls are in flight than allowed, and those that wait go in turn', async () => {
  const calls = await poolOnStub();
  const answers = ['a', 'b', 'c', 'd', 'e'].map((message) => call(calls, message));
  for (let answered = 0; answered < 5; answered += 1) {
    await until(() => calls.open.length === Math.min(2, 5 - answered));
    await until(() => calls.pool.instances[0]?.inFlight === calls.open.length);
    const { message, answer } = calls.open.shift() as Calls['open'][0];
    answer(reply(message));
  }
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(calls.seen).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('an answer over the limit, and one that is not gRPC, become errors of the runtime', async () => {
  const calls = await poolOnStub({}, (message) => reply(message));
  await expect(call(calls, 'x'.repeat(1001))).rejects.toMatchObject({
    code: 'RESPONSE_TOO_LARGE',
    message:
      "the model's answer has 1001 bytes, more than the 1000 allowed. Ask for fewer outputs with tfs-outputs, send fewer rows, or raise SAGEMAKER_TFS_MAX_RESPONSE_BYTES.",
  });
  const unlike = calls.pool.use(() => Promise.reject(new UnusableReply('no gRPC')));
  await expect(unlike).rejects.toMatchObject({ code: 'INTERNAL', message: 'no gRPC.' });
});

test('an instance that served a model which is gone now still gets calls, and refuses them itself', async () => {
  const calls = await poolOnStub();
  calls.status = {
    status: GrpcStatus.NOT_FOUND,
    message: 'Could not find any versions of model m',
  };
  calls.pool.instances[0]?.readiness.lost('asked anew');
  const answer = call(calls, 'a');
  await until(() => calls.open.length === 1);
  calls.open.shift()?.answer({ status: GrpcStatus.NOT_FOUND, message: 'Servable not found' });
  await expect(answer).rejects.toThrow('Servable not found');
});

test('a call that waits is dropped where its time is up, and never sent', async () => {
  const calls = await poolOnStub({ maxInFlight: 1 });
  const first = call(calls, 'first');
  const timeUp = new AbortController();
  const late = call(calls, 'late', timeUp.signal);
  const last = call(calls, 'last');
  await until(() => calls.open.length === 1);
  timeUp.abort(new Error('time is up'));
  await expect(late).rejects.toThrow('time is up');
  calls.open.shift()?.answer(reply('1'));
  await until(() => calls.open.length === 1);
  calls.open.shift()?.answer(reply('2'));
  expect(await Promise.all([first, last])).toEqual(['1', '2']);
  expect(calls.seen).toEqual(['first', 'last']);
});

/** A call whose client goes once the server has it. */
async function abandonCall(calls: Awaited<ReturnType<typeof poolOnStub>>): Promise<void> {
  const gone = new AbortController();
  const abandoned = call(calls, 'abandoned', gone.signal);
  await until(() => calls.open.length === 1);
  gone.abort(new Error('the client has gone'));
  await expect(abandoned).rejects.toThrow('the client has gone');
}

test('an abandoned call keeps its place until the server has ended it', async () => {
  const calls = await poolOnStub({ maxInFlight: 1 });
  await abandonCall(calls);
  const next = call(calls, 'next');
  expect(calls.pool.instances[0]?.inFlight).toBe(1);
  expect(calls.seen).toEqual(['abandoned']);
  calls.open.shift()?.answer(reply('nobody reads this'));
  await until(() => calls.open.length === 1);
  calls.open.shift()?.answer(reply('ok'));
  expect(await next).toBe('ok');
});

test('an abandoned call gives its place back where the connection ends', async () => {
  const calls = await poolOnStub({ maxInFlight: 1 });
  await abandonCall(calls);
  calls.stub.die();
  await until(() => calls.pool.instances[0]?.inFlight === 0);
  expect(calls.seen).toEqual(['abandoned']);
});

test('what the server has no thread for is sent again until it has', async () => {
  let refusals = 3;
  const calls = await poolOnStub({}, (message) => {
    if (message !== 'x') return undefined;
    refusals -= 1;
    return refusals < 0
      ? reply('ok')
      : { ...EXHAUSTED, message: refusals === 1 ? '' : EXHAUSTED.message };
  });
  expect(await call(calls, 'x')).toBe('ok');
  expect(calls.seen).toEqual(['x', 'x', 'x', 'x']);
});

/** A server with a few threads; what it takes, in order. */
async function poolOnThreads(threads: number, options: Partial<InstancePoolOptions>) {
  const taken: string[] = [];
  const calls = await poolOnStub(options, (message, { open }) => {
    if (open.length >= threads) return EXHAUSTED;
    taken.push(message);
    return undefined;
  });
  const isSettled = () =>
    calls.open.length > 0 && calls.pool.instances[0]?.inFlight === calls.open.length;
  return { calls, taken, isSettled };
}

test('what the server has no thread for goes before all that came later, however long the load', async () => {
  const limits: number[] = [];
  const { calls, taken, isSettled } = await poolOnThreads(3, {
    maxInFlight: 8,
    onRefused: (_index, most) => limits.push(most),
  });
  const come: string[] = [];
  const answers: Promise<string>[] = [];
  const arrive = () => {
    come.push(String(come.length));
    answers.push(call(calls, come.at(-1) as string));
  };
  for (let client = 0; client < 8; client += 1) arrive();
  // Of eight clients each asks again once it is answered.
  while (taken.length < come.length || calls.open.length > 0) {
    await until(isSettled);
    const { message, answer } = calls.open.shift() as Calls['open'][0];
    answer(reply(message));
    await answers[Number(message)];
    if (come.length < 60) arrive();
  }
  expect(await Promise.all(answers)).toEqual(come);
  expect(taken).toEqual(come);
  // Five of the first eight; then one at a time, after a round of 2 and one of 3.
  expect(limits.slice(0, 5)).toEqual([6, 5, 4, 3, 2]);
  expect(limits.slice(5).every((most) => most === 2)).toBe(true);
  expect(limits.length).toBeGreaterThan(5);
  expect(limits.length).toBeLessThanOrEqual(5 + 60 / 5);
  expect(calls.pool.refusals).toBe(limits.length);
  expect(calls.seen).toHaveLength(60 + limits.length);
});

test('where others have all the threads, what comes later waits behind what is refused', async () => {
  let refusals = 3;
  const taken: string[] = [];
  const calls = await poolOnStub({ maxInFlight: 8 }, (message) => {
    refusals -= 1;
    if (refusals >= 0) return EXHAUSTED;
    taken.push(message);
    return reply(message);
  });
  const first = call(calls, 'first');
  await until(() => calls.pool.refusals > 0);
  const later = ['b', 'c'].map((message) => call(calls, message));
  expect(await Promise.all([first, ...later])).toEqual(['first', 'b', 'c']);
  expect(taken).toEqual(['first', 'b', 'c']);
  expect(calls.seen).toEqual(['first', 'first', 'first', 'first', 'b', 'c']);
});

test('a call that is refused and then given up is not sent again', async () => {
  const { calls, taken, isSettled } = await poolOnThreads(1, { maxInFlight: 2 });
  const first = call(calls, 'first');
  const timeUp = new AbortController();
  const refused = call(calls, 'refused', timeUp.signal);
  await until(() => calls.pool.refusals === 1);
  const last = call(calls, 'last');
  timeUp.abort(new Error('time is up'));
  await expect(refused).rejects.toThrow('time is up');
  for (const message of ['first', 'last']) {
    await until(isSettled);
    calls.open.shift()?.answer(reply(message));
  }
  expect(await Promise.all([first, last])).toEqual(['first', 'last']);
  expect(taken).toEqual(['first', 'last']);
  expect(calls.seen).toEqual(['first', 'refused', 'last']);
});

test("TensorFlow's own lack of memory is an answer", async () => {
  const message = 'OOM when allocating tensor with shape[1000000,1000000]';
  const calls = await poolOnStub({}, () => ({ status: GrpcStatus.RESOURCE_EXHAUSTED, message }));
  await expect(call(calls, 'x')).rejects.toThrow(message);
  expect(calls.seen).toEqual(['x']);
});

test.each([
  ['refused for lack of threads', EXHAUSTED],
  ['not answered in time', { status: GrpcStatus.DEADLINE_EXCEEDED, message: 'Deadline Exceeded' }],
])('a probe that is %s changes nothing', async (_how, status) => {
  const calls = await poolOnStub();
  let probes = 0;
  Object.defineProperty(calls, 'status', {
    get: () => {
      probes += 1;
      return status;
    },
  });
  // A loss asks at once, and again every 100 ms.
  await until(() => probes > 0);
  expect(calls.pool.reason).toBeUndefined();
});

test('a call that ends the server twice is not sent a third time, and all others are answered', async () => {
  const calls = await poolOnStub({ maxInFlight: 8 }, (message, { open, stub }) => {
    if (message !== 'poison') return undefined;
    // With the others in flight, at first.
    const die = () => {
      open.length = 0;
      stub.die();
    };
    if (calls.seen.filter((seen) => seen === 'poison').length > 1) die();
    else void until(() => open.length === 4).then(die);
    return undefined;
  });
  const others = ['a', 'b', 'c', 'd'].map((message) => call(calls, message));
  await until(() => calls.open.length === 4);
  const poison = call(calls, 'poison').then(
    () => 'answered',
    (error) => error,
  );
  // Everything is answered but what ends the server.
  const answering = setInterval(() => {
    if (calls.seen.length < 6) return;
    for (const { message, answer } of calls.open.splice(0))
      if (message !== 'poison') answer(reply(message));
  }, 10);
  cleanups.push(() => clearInterval(answering));
  expect(await Promise.all(others)).toEqual(['a', 'b', 'c', 'd']);
  expect(await poison).toMatchObject({
    code: 'MODEL_SERVER_GONE',
    message: expect.stringContaining('twice'),
  });
  expect(calls.seen.filter((seen) => seen === 'poison')).toHaveLength(2);
  for (const message of ['a', 'b', 'c', 'd']) {
    expect(calls.seen.filter((seen) => seen === message)).toHaveLength(2);
  }
});

test('a call in which others are joined is not made again where the server ends: they are, each alone', async () => {
  const calls = await poolOnStub({ maxInFlight: 8 });
  const joined = { calls: 2, isAfterLoss: false };
  const together = expect(call(calls, 'ab', undefined, joined)).rejects.toMatchObject({
    code: 'MODEL_SERVER_GONE',
    cause: { wasSent: true },
  });
  await until(() => calls.open.length === 1);
  calls.stub.die();
  await together;
  calls.open.length = 0;
  const alone = { calls: 1, isAfterLoss: true };
  const [a, b] = ['a', 'b'].map((message) => call(calls, message, undefined, alone));
  await until(() => calls.open.length === 1);
  expect(calls.pool.instances[0]).toMatchObject({ inFlight: 1, isAlone: true });
  calls.open.splice(0)[0]?.answer(reply('a'));
  expect(await a).toBe('a');
  await until(() => calls.open.length === 1);
  calls.stub.die();
  await expect(b).rejects.toMatchObject({ message: expect.stringContaining('twice') });
  expect(calls.seen).toEqual(['ab', 'a', 'b']);
});

test('suspects keep others waiting for a while only: then those without a turn are refused, and others join', async () => {
  const calls = await poolOnStub({ maxInFlight: 8, trialMs: 200 });
  const [first, ...rest] = ['first', 'b', 'c'].map((message) => call(calls, message));
  await until(() => calls.open.length === 3);
  calls.open.length = 0;
  calls.stub.die();
  await until(() => calls.open.length === 1);
  const later = ['d', 'e'].map((message) => call(calls, message));
  for (const refused of await Promise.allSettled(rest)) {
    expect(refused).toMatchObject({
      reason: { code: 'MODEL_SERVER_GONE', message: expect.stringMatching('not had its turn') },
    });
  }
  // The first is still at work.
  await until(() => calls.open.length === 3);
  for (const { message, answer } of calls.open.splice(0)) answer(reply(message));
  expect(await Promise.all([first, ...later])).toEqual(['first', 'd', 'e']);
  expect(calls.seen.slice(3)).toEqual(['first', 'd', 'e']);
});

/** A call that ends the server twice, the second time with the signal. */
async function endTwice(signal: NodeJS.Signals, joinedBy?: string) {
  const calls = await poolOnStub({ maxInFlight: 8, trialMs: 50, knowsCause: () => true });
  const end = { status: null, signal, lastLines: [] };
  const fatal = call(calls, 'fatal').catch((error) => error);
  let others: Promise<string> | undefined;
  for (let deaths = 0; deaths < 2; deaths += 1) {
    await until(() => calls.open.length === 1);
    if (deaths === 1 && joinedBy !== undefined) {
      others = call(calls, joinedBy);
      await until(() => calls.open.length === 2);
    }
    calls.open.length = 0;
    calls.stub.die();
    calls.pool.ended(0, { ...end });
  }
  const error = await fatal;
  await until(() => calls.open.length === (others ? 1 : 0));
  calls.open[0]?.answer(reply('ok'));
  await others;
  return { error, seen: calls.seen };
}

test.each([
  ['SIGABRT', undefined, 'FATAL_REQUEST', 400],
  ['SIGSEGV', undefined, 'FATAL_REQUEST', 400],
  ['SIGKILL', undefined, 'MODEL_SERVER_GONE', 503],
  ['SIGTERM', undefined, 'MODEL_SERVER_GONE', 503],
  ['SIGABRT', 'other', 'MODEL_SERVER_GONE', 503],
] as const)(
  'a call that ends the server twice, by %s, beside %s: %s',
  async (signal, joinedBy, code, status) => {
    const { error, seen } = await endTwice(signal, joinedBy);
    expect(error).toMatchObject({ code, status });
    expect(seen.filter((message) => message === 'fatal')).toHaveLength(2);
  },
);
