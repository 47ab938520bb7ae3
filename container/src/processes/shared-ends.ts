/** How the model server that several workers share has ended, and whether one request alone was at work then. */
import type { Worker } from 'node:cluster';
import type { InstancePool } from '../model-server/instance-pool.ts';
import type { ProcessEnd } from '../model-server/process.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** How long a worker may take to answer; shorter than the pause before a restart, so that no end is taken for the next. */
const PATIENCE_MS = 200;

let asked = 0;

/** In the primary: tells the workers. One that does not answer may have been at work. */
export async function tellEnd(
  workers: readonly Worker[],
  instance: number,
  end: ProcessEnd,
): Promise<void> {
  asked += 1;
  const busy = await Promise.all(workers.map((worker) => wasBusy(worker, asked, instance)));
  const isSole = busy.filter(Boolean).length === 1;
  const message: PrimaryMessage = { kind: 'ended', instance, end, isSole };
  for (const worker of workers) if (worker.isConnected()) worker.send(message, () => undefined);
}

function wasBusy(worker: Worker, id: number, instance: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isBusy: boolean) => {
      clearTimeout(timer);
      worker.removeListener('message', onMessage);
      resolve(isBusy);
    };
    const onMessage = (message: WorkerMessage) => {
      if (message.kind === 'busy' && message.id === id) settle(message.isBusy);
    };
    const timer = setTimeout(settle, PATIENCE_MS, true);
    worker.on('message', onMessage);
    const question: PrimaryMessage = { kind: 'asks-busy', id, instance };
    worker.send(question, (error) => error && settle(true));
  });
}

/** In a worker: what the primary tells goes to the pool. */
export function hearEnds(pool: InstancePool): void {
  process.on('message', (message: PrimaryMessage) => {
    if (message.kind === 'ended') pool.ended(message.instance, message.end, message.isSole);
    if (message.kind !== 'asks-busy') return;
    const isBusy = pool.wasBusy(message.instance);
    const answer: WorkerMessage = { kind: 'busy', id: message.id, isBusy };
    process.send?.(answer, () => undefined);
  });
}
