/** Tells a model that ends TensorFlow Serving while it loads from a lack of memory. */
import { ServingError } from '../errors.ts';
import type { ServedModel } from '../models/served-model.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import { howEnded, type ProcessEnd } from './process.ts';

/** Signals of a program's own faults. The kernel ends one for lack of memory by SIGKILL. */
const FAULTS: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGTRAP',
]);
/** What a shell that started it ends with if the kernel killed it. */
const KILLED = 128 + 9;
/** C++ aborts as well if an allocation fails. */
const SHORTAGE = /bad_alloc|cannot allocate memory|out of memory/i;

/**
 * The answer to a load that failed. The same load would end the model server again: that is the archive's fault.
 * @param end how the model server ended meanwhile
 * @returns ServingError BAD_ARCHIVE, or `error` itself
 */
export function blameModel(
  error: unknown,
  end: ProcessEnd | undefined,
  loading: readonly ServedModel[],
): unknown {
  if (!(error instanceof ConnectionLost) || !end || loading.length === 0) return error;
  if (!isFault(end) || end.lastLines.some((line) => SHORTAGE.test(line))) return error;
  const names = loading.map(({ name }) => `"${name}"`).join(', ');
  const reason = end.fatal === undefined ? 'without a reason' : `over: ${end.fatal}`;
  return new ServingError(
    'BAD_ARCHIVE',
    `the model server ${howEnded(end)} while it loaded model ${names}, ${reason}. Load it on a laptop (sagemaker-tfs serve), and export it again.`,
    { cause: error },
  );
}

/** Whether it ended over something of its own: also by an exit. */
function isFault({ signal, status }: ProcessEnd): boolean {
  return signal === null ? status !== null && status !== KILLED : FAULTS.has(signal);
}
