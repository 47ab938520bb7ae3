/** A request that fails in a batch fails alone, and its bytes reach nobody else, whichever way the model is called. */

import { tensorFromValues } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { encodeExample } from './codecs/tf-example-writer.ts';
import { createModelDir } from './testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const SECRET = 'SECRET-of-another-caller';

let runtime: RuntimeProcess;
let remove: () => Promise<void>;

async function start(variables: Record<string, string>): Promise<void> {
  const created = await createModelDir({
    copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
  });
  remove = created.remove;
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
    SAGEMAKER_TFS_MAX_BATCH_SIZE: '6',
    SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '200000',
    SAGEMAKER_TFS_NUM_BATCH_THREADS: '1',
    ...variables,
  });
  await runtime.ready();
}

async function stop(): Promise<void> {
  await runtime.end('SIGKILL');
  await remove();
}

/** `{x: value}` as a serialized tf.Example. */
const example = (value: number) => encodeExample({ x: tensorFromValues('float32', [1], [value]) });

async function ask(
  serialized: Uint8Array,
  signal: AbortSignal | null = null,
): Promise<{ status: number; text: string }> {
  const b64 = Buffer.from(serialized).toString('base64');
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ signature_name: 'classify_x_to_y', instances: [{ b64 }] }),
    signal,
  });
  return { status: response.status, text: await response.text() };
}

test.each(['grpc', 'rest', 'in-process'])(
  'more rows than a call may have get 413: %s',
  async (transport) => {
    const backend = transport === 'in-process' ? { SAGEMAKER_TFS_BACKEND: transport } : {};
    await start({
      ...backend,
      SAGEMAKER_TFS_MAX_ROWS: '7',
      SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '0',
    });
    try {
      for (const form of ['instances', 'inputs']) {
        for (const rows of [7, 8]) {
          const response = await fetch(`${runtime.url}/invocations`, {
            method: 'POST',
            headers: {
              'Content-Type': 'application/json',
              'X-Amzn-SageMaker-Custom-Attributes': `tfs-transport=${transport}`,
            },
            body: JSON.stringify({ [form]: Array(rows).fill(1) }),
          });
          const text = await response.text();
          expect([rows, response.status, text]).toEqual(
            rows === 7
              ? [7, 200, expect.any(String)]
              : [
                  8,
                  413,
                  expect.stringMatching(/8 rows.*SAGEMAKER_TFS_MAX_ROWS.*REQUEST_TOO_LARGE/),
                ],
          );
        }
      }
    } finally {
      await stop();
    }
  },
);

const values = [1, 2, 4, 8];

/** Garbage of two callers and honest requests at once, which make one batch. */
async function askTogether() {
  const [bad, other, ...honest] = await Promise.all([
    ask(Buffer.from(SECRET)),
    ask(Buffer.from('garbage of a second caller')),
    ...values.map((value) => ask(example(value))),
  ]);
  return { bad, other, honest };
}

const right = values.map((value) => [200, { predictions: [[value / 2 + 2 + 1]] }]);

describe.each(['grpc', 'rest', 'in-process'])('over %s', (backend) => {
  beforeAll(() => start({ SAGEMAKER_TFS_BACKEND: backend }));
  afterAll(stop);

  test('honest requests of a batch are answered, garbage gets its own error', async () => {
    const { bad, other, honest } = await askTogether();
    expect(honest.map(({ status, text }) => [status, JSON.parse(text)])).toEqual(right);
    expect(bad).toMatchObject({ status: 400, text: expect.stringContaining(SECRET) });
    expect(other).toMatchObject({ status: 400, text: expect.stringContaining('second caller') });
    for (const { text } of [other, ...honest]) expect(text).not.toContain(SECRET);
  });
});

describe.each(['grpc', 'rest', 'in-process'])('over %s, under attack', (backend) => {
  beforeAll(() =>
    start({ SAGEMAKER_TFS_BACKEND: backend, SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '20000' }),
  );
  afterAll(stop);

  test('every honest request has its right answer, whatever else comes', async () => {
    let isOver = false;
    const attackers = Array.from({ length: 4 }, async (_, index) => {
      for (let times = 0; !isOver; times++) {
        // Every other one hangs up, after a while that is never the same for long.
        const signal = index % 2 ? AbortSignal.timeout(1 + (times % 25)) : null;
        await ask(Buffer.from(SECRET), signal).catch(() => undefined);
      }
    });
    const answers: { value: number; status: number; text: string }[] = [];
    const honest = values.map(async (value) => {
      for (let times = 0; times < 40; times++) {
        let answer = await ask(example(value));
        // On a busy machine the connections that attackers drop are too many for a while. Clients then come again.
        while (answer.text.includes('OVERLOADED')) answer = await ask(example(value));
        answers.push({ value, ...answer });
      }
    });
    await Promise.all(honest);
    isOver = true;
    await Promise.all(attackers);
    for (const { value, status, text } of answers) {
      expect([status, JSON.parse(text)]).toEqual([200, { predictions: [[value / 2 + 2 + 1]] }]);
    }
    expect(answers).toHaveLength(160);
  });
});

describe('over gRPC, with several processes of the runtime', () => {
  beforeAll(() => start({ SAGEMAKER_TFS_PROCESSES: '2' }));
  afterAll(stop);

  test('honest requests are answered, and no text reaches another caller', async () => {
    for (let times = 0; times < 3; times++) {
      const { bad, other, honest } = await askTogether();
      expect(honest.map(({ status, text }) => [status, JSON.parse(text)])).toEqual(right);
      expect(bad).toMatchObject({ status: 400, text: expect.stringContaining(SECRET) });
      expect(other).toMatchObject({ status: 400, text: expect.stringContaining('second caller') });
      expect(other?.text).not.toContain(SECRET);
    }
  });
});
