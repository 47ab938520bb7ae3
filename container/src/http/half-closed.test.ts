/** How long clients that closed their half are taken to wait. Over real connections: `hostile-clients.test.ts`. */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { answerHalfClosed } from './half-closed.ts';

/** A client that closed its half, and what it was sent. */
function halfClosed(httpVersionMinor: number, headersSent = false) {
  const tries: number[] = [];
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    destroy() {
      socket.destroyed = true;
    },
  });
  const response = {
    socket,
    headersSent,
    req: { httpVersionMinor },
    writeContinue: () => tries.push(Date.now()),
  };
  const server = new EventEmitter();
  answerHalfClosed(server as Server, () => [{ response }] as never);
  server.emit('connection', socket);
  socket.emit('end');
  return { socket, tries };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('one of HTTP/1.1 is tried as long as it waits', () => {
  const { socket, tries } = halfClosed(1);
  jest.advanceTimersByTime(600_000);
  expect(socket.destroyed).toBe(false);
  expect(tries.length).toBeGreaterThan(50);
});

test('one of HTTP/1.0 cannot be tried, and is given up', () => {
  const { socket, tries } = halfClosed(0);
  jest.advanceTimersByTime(20_000);
  expect(socket.destroyed).toBe(false);
  jest.advanceTimersByTime(10_000);
  expect([socket.destroyed, tries]).toEqual([true, []]);
});

test('but not in the middle of its answer', () => {
  const { socket } = halfClosed(0, true);
  jest.advanceTimersByTime(600_000);
  expect(socket.destroyed).toBe(false);
});
