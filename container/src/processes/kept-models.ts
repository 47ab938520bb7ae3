/**
 * The models of a multi-model endpoint outlive the process that holds them: the primary keeps their list, and the next
 * worker loads them again. SageMaker counts on a model that it has loaded, and would not load it a second time.
 */
import type { ModelSource } from '../multi-model/model-table.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** Tells the primary which models are loaded now. */
export function reportModels(models: readonly ModelSource[]): void {
  tell({ kind: 'models', models });
}

/** Asks the primary which models the worker before this one had loaded. */
export function modelsBefore(): Promise<readonly ModelSource[]> {
  return new Promise((resolve) => {
    const hear = (message: PrimaryMessage) => {
      if (message.kind !== 'models') return;
      process.off('message', hear);
      resolve(message.models);
    };
    process.on('message', hear);
    tell({ kind: 'asks-models' });
  });
}

function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}
