/** What a worker tells its primary. */
import type { Metrics } from '../observability/metrics.ts';
import type { PlainError } from '../thrown.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** Tells the primary that the models can be called, and answers its questions from now on. */
export function reportReady(metrics: Metrics): void {
  process.on('message', (message: PrimaryMessage) => {
    if (message.kind !== 'metrics') return;
    void metrics.json().then((json) => tell({ kind: 'metrics', id: message.id, metrics: json }));
  });
  void tell({ kind: 'ready' });
}

/** Tells the primary why this worker ends. */
export function reportFailure({ message, code }: PlainError): Promise<void> {
  return tell({ kind: 'failed', message, ...(code && { code }) });
}

function tell(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });
}
