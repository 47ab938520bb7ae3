/**
 * A model server whose threads are all at work refuses calls that change its models: they are sent again. One that does
 * not answer, or is being started again, starts with what is wanted.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { GRPC_METHODS, ReloadConfigRequestSchema } from '@sagemaker-tfs/tensors/protos';
import type { ServedModel } from '../models/served-model.ts';
import {
  availableAnswer,
  STATUS_PATH,
  type StubAnswer,
  startGrpcStub,
} from '../testing/grpc-stub.ts';
import { InstancePool } from './instance-pool.ts';
import { reloadInstances, untilRemoved } from './reload.ts';

const RELOAD_PATH: string = GRPC_METHODS.handleReloadConfigRequest;
const BROKEN = { status: GrpcStatus.UNKNOWN, message: 'broken did not become available' };
const model = (name: string): ServedModel => ({ name, basePath: `/${name}`, versions: ['1'] });
const a = [model('a')];
const ab = [model('a'), model('b')];
const broken = [model('a'), model('broken')];
const stuck = [model('a'), model('stuck')];

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

interface StandIn {
  /** Refusals that come before the next calls of a path. */
  readonly refusals: { [path: string]: number };
  /** The names of each list that it was asked to serve and did not refuse. */
  readonly lists: string[][];
  /** Indexes of processes that were ended. */
  readonly restarts: number[];
  /** Ends it. Its end is noticed by the next call, or was noticed already. */
  die(isNoticed: boolean): void;
  change(before: ServedModel[], models: ServedModel[], deadlineMs?: number): Promise<void>;
}

/** A model server that serves `a` and cannot load `broken`; after each call that it takes, `refusals` begin anew. */
async function standIn(text: string, each: StandIn['refusals']): Promise<StandIn> {
  const refusals = { ...each };
  const lists: string[][] = [];
  const restarts: number[] = [];
  let served = ['a'];
  const take = (path: string, message: Buffer): StubAnswer | Promise<never> => {
    if (path === STATUS_PATH) {
      const isServed = served.some((name) => message.toString().endsWith(`\x03\n\x01${name}`));
      return isServed ? availableAnswer() : { status: GrpcStatus.NOT_FOUND, message: 'not found' };
    }
    const { value } = fromBinary(ReloadConfigRequestSchema, message).config?.config ?? {};
    served = value && 'config' in value ? value.config.map(({ name }) => name) : [];
    lists.push(served);
    if (lists.flat().includes('stuck')) return new Promise<never>(() => undefined);
    return served.includes('broken') ? BROKEN : new Uint8Array();
  };
  const stub = await startGrpcStub(async (path, message) => {
    const left = refusals[path] ?? 0;
    if (left > 0) {
      refusals[path] = left - 1;
      return { status: GrpcStatus.RESOURCE_EXHAUSTED, message: text };
    }
    refusals[path] = each[path] ?? 0;
    return take(path, Buffer.from(message, 'latin1'));
  });
  const pool = new InstancePool({
    endpoints: [{ host: '127.0.0.1', grpcPort: stub.port, restPort: 0, grpcSocket: '' }],
    models: [],
    maxReplyBytes: 1000,
    maxInFlight: 2,
    waitMs: 2000,
    stuckMs: 60_000,
    onLoadFailure: () => undefined,
  });
  cleanups.push(() => {
    pool.close();
    stub.close();
  });
  pool.start(0);
  await pool.whenReady();
  return {
    refusals,
    lists,
    restarts,
    die(isNoticed) {
      stub.close();
      if (isNoticed) pool.instances[0]?.readiness.lost('the model server is restarting');
    },
    async change(before, models, deadlineMs = 10_000) {
      const change = { pool, before, models, deadlineMs };
      await reloadInstances({
        ...change,
        want: async () => undefined,
        restart: (index) => restarts.push(index),
      });
      await untilRemoved(change);
    },
  };
}

const TEXTS = [['Server Threadpool Exhausted'], ['']];
const EACH_TWICE = { [RELOAD_PATH]: 2, [STATUS_PATH]: 2 };

test.each(TEXTS)('a load that is refused with %j is sent again', async (text) => {
  const { change, lists, restarts } = await standIn(text, EACH_TWICE);
  await change(a, ab);
  expect(lists).toEqual([['a', 'b']]);
  expect(restarts).toEqual([]);
});

test.each(TEXTS)('an unload that is refused with %j is sent again', async (text) => {
  const { change, lists, restarts } = await standIn(text, EACH_TWICE);
  await change(ab, a);
  expect(lists).toEqual([['a']]);
  expect(restarts).toEqual([]);
});

test.each(TEXTS)(
  'a way back that is refused with %j is sent again, and nothing restarts',
  async (text) => {
    const { change, lists, restarts } = await standIn(text, EACH_TWICE);
    await expect(change(a, broken)).rejects.toThrow(BROKEN.message);
    expect(lists).toEqual([['a', 'broken'], ['a']]);
    expect(restarts).toEqual([]);
  },
);

test.each([
  ['load', a, ab],
  ['unload', ab, a],
])(
  '%s: refused until the deadline, it is too much now, and the server is left alone',
  async (_what, before, after) => {
    const { change, lists, refusals, restarts } = await standIn('', EACH_TWICE);
    refusals[RELOAD_PATH] = Number.POSITIVE_INFINITY;
    await expect(change(before, after, 900)).rejects.toMatchObject({
      code: 'OVERLOADED',
      status: 503,
      message: expect.stringContaining(
        'has had no thread for the change of its models within 0.9 s',
      ),
    });
    expect(lists).toEqual([]);
    expect(restarts).toEqual([]);
  },
);

test('a load that never ends: the server was restarted, and the error says so', async () => {
  const { change, restarts } = await standIn('', {});
  await expect(change(a, stuck, 300)).rejects.toMatchObject({
    code: 'REQUEST_TIMEOUT',
    message: expect.stringMatching(
      /within 0\.3 s .*The model server was restarted, and its other models are loaded again\.$/,
    ),
  });
  expect(restarts).toEqual([0]);
});

test.each([[true], [false]])(
  'an unload from a server that is being started again (%j: that is known) succeeds',
  async (isNoticed) => {
    const { change, die, restarts } = await standIn('', {});
    die(isNoticed);
    await change(ab, a);
    expect(restarts).toEqual([0]);
  },
);

test("TensorFlow's own lack of memory is an answer, and is not sent again", async () => {
  const { change, lists } = await standIn('OOM when allocating tensor with shape[9,9]', {});
  const refused = await standIn('OOM when allocating tensor with shape[9,9]', { [RELOAD_PATH]: 1 });
  await change(a, ab);
  await expect(refused.change(a, ab)).rejects.toMatchObject({
    code: GrpcStatus.RESOURCE_EXHAUSTED,
  });
  expect(lists).toEqual([['a', 'b']]);
  // The way back is refused too at first, so the process is restarted, which goes back as well.
  expect(refused.lists).toEqual([['a']]);
});
