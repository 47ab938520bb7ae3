/** Clients that ask for a stream and leave, again and again: the log stays one of JSON lines, and others are answered. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { invoke } from '../testing/invoke.ts';
import { type RuntimeProcess, until } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const HANDLER = `
import { setTimeout as later } from 'node:timers/promises';
export function handler(data) {
  const mode = String(data);
  if (mode === 'warn') process.emitWarning('of the handler');
  if (mode === 'whole' || mode === 'warn') return mode;
  const body = (async function* () {
    for (;;) {
      yield 'x'.repeat(100_000);
      if (mode === 'slow') await later(20);
    }
  })();
  return { body, contentType: 'text/plain' };
}
`;

const serve = useRuntimes();
let runtime: RuntimeProcess;
beforeAll(async () => {
  runtime = await serve({
    copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
    files: { 'code/inference.mjs': HANDLER },
  });
});

async function leave(mode: string, readFirst: boolean, reset: boolean): Promise<void> {
  const socket = connect(Number(new URL(runtime.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST /invocations HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: ${mode.length}\r\n\r\n${mode}`,
  );
  if (readFirst) await once(socket, 'data');
  if (reset) socket.resetAndDestroy();
  else socket.destroy();
}

/** Lines of the log that are no JSON. */
const plainLines = () =>
  runtime
    .output()
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('{'));

test('streams that are reset leave no line of another form, and no warning', async () => {
  const before = plainLines();
  for (let i = 0; i < 200; i++) await leave(i % 2 ? 'endless' : 'slow', i % 3 === 0, i % 5 === 0);
  const response = await invoke(runtime, { body: 'whole', type: 'text/plain' });
  expect([response.status, await response.text()]).toEqual([200, 'whole']);
  expect(plainLines()).toEqual(before);
  expect(runtime.log().filter(({ msg }) => msg === 'a warning of Node')).toEqual([]);
});

test('a warning is a line of the log as others are', async () => {
  const before = plainLines();
  await invoke(runtime, { body: 'warn', type: 'text/plain' });
  const warning = () => runtime.log().find(({ msg }) => msg === 'a warning of Node');
  await until(() => warning() !== undefined);
  expect(warning()).toMatchObject({ level: 'warn', err: { message: 'of the handler' } });
  expect(plainLines()).toEqual(before);
});
