/** The metrics of all processes, for a worker that was asked for them. */
import { ServingError } from '../errors.ts';
import type { MetricsPage } from '../observability/metrics-page.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** How long the primary may take to ask all workers; SageMaker's collector asks again 10 s later. */
const PATIENCE_MS = 5000;

/** Asks the primary each time. */
export function primaryPage(): MetricsPage {
  const waiting = new Map<number, (text: string) => void>();
  let asked = 0;
  process.on('message', (message: PrimaryMessage) => {
    if (message.kind === 'metrics-page') waiting.get(message.id)?.(message.text);
  });
  return {
    text: (format) => {
      asked += 1;
      const id = asked;
      return new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => reject(noAnswer()), PATIENCE_MS);
        waiting.set(id, (text) => {
          clearTimeout(timer);
          resolve(text);
        });
        const question: WorkerMessage = { kind: 'metrics-page', id, format };
        process.send?.(question, (error: Error | null) => error && reject(noAnswer()));
      }).finally(() => waiting.delete(id));
    },
  };
}

function noAnswer(): ServingError {
  return new ServingError(
    'METRICS_UNAVAILABLE',
    'the primary process did not answer with the metrics of all processes. Ask again.',
  );
}
