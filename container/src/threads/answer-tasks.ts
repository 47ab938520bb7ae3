/** What every thread of a pool does with its messages. */
import { parentPort } from 'node:worker_threads';
import { ServingError } from '../errors.ts';
import type { ThreadReply } from './thread-pool.ts';

/** A result, and the buffers in it that go over to the main thread instead of being copied. */
export interface Answer<Result> {
  readonly result: Result;
  readonly moved: readonly ArrayBuffer[];
}

/** Answers every task that this thread gets, one after the other. */
export function answerTasks<Task, Result>(
  work: (task: Task) => Answer<Result> | Promise<Answer<Result>>,
): void {
  parentPort?.on('message', async (task: Task) => {
    try {
      const { result, moved } = await work(task);
      send({ result }, moved);
    } catch (error) {
      const code = error instanceof ServingError ? error.code : 'INTERNAL';
      const message = error instanceof Error ? error.message : String(error);
      send({ error: { code, message } });
    }
  });
}

function send<Result>(reply: ThreadReply<Result>, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, moved);
}
