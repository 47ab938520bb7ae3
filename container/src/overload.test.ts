import { connect, type Socket } from 'node:net';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { until } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
const serve = useRuntimes(afterEach);
const copies = { half_plus_two: fixtureModel('half_plus_two').basePath };
const start = (variables: Record<string, string>) => serve({ copies }, variables);

test('many large bodies at once: each gets its answer or 503, and /ping answers meanwhile', async () => {
  const runtime = await start({ SAGEMAKER_TFS_MAX_HELD_BYTES: '20000000' });
  const values = new Array(1_000_000).fill(3.5);
  const body = JSON.stringify({ instances: values });
  const statuses: number[] = [];
  const all = Promise.all(
    Array.from({ length: 16 }, async () => {
      const response = await fetch(`${runtime.url}/invocations`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      const answer = (await response.json()) as { predictions?: number[]; code?: string };
      statuses.push(response.status);
      if (response.status === 200) {
        expect(answer.predictions?.length).toBe(values.length);
        expect(answer.predictions?.at(-1)).toBe(4.75);
      } else {
        expect(response.headers.get('retry-after')).toBe('1');
        expect(answer.code).toBe('OVERLOADED');
      }
    }),
  );
  let pings = 0;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  all.then(over, over);
  while (!isOver) {
    expect((await fetch(`${runtime.url}/ping`)).status).toBe(200);
    pings += 1;
  }
  await all;
  expect(pings).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  const after = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body: '{"instances": [1]}',
    headers: { 'Content-Type': 'application/json' },
  });
  expect(await after.json()).toEqual({ predictions: [3.5] });
});

test('clients that announce much, dribble or never read are cut, and honest ones are answered', async () => {
  const runtime = await start({
    SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS: '2',
    SAGEMAKER_TFS_MAX_HELD_BYTES: '200000000',
    SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '60',
  });
  const port = Number(new URL(runtime.url).port);
  const head = (length: number) =>
    `POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const large = JSON.stringify({ instances: new Array(5_000_000).fill(3.5) });
  const answers = new Map<number, string>();
  const texts = [`${head(1e9)}{`, `${head(1000)}{`, head(large.length) + large];
  for (const [index, text] of texts.entries()) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      answers.set(index, `${answers.get(index) ?? ''}${chunk}`);
    });
    if (index === 2) socket.pause();
    socket.write(text);
  }
  await until(() => answers.has(0) && answers.has(1));
  for (const answer of answers.values()) {
    expect(answer).toMatch(/^HTTP\/1.1 (408|503) [\s\S]*(CLIENT_TOO_SLOW|OVERLOADED)/);
  }
  await until(() => runtime.output().includes('the client does not read its answer: cut'));
  const honest = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body: large,
    headers: { 'Content-Type': 'application/json' },
  });
  expect(honest.status).toBe(200);
  expect(((await honest.json()) as { predictions: number[] }).predictions.length).toBe(5_000_000);
});
