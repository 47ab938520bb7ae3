/** Tells a model that ends TensorFlow Serving while it loads from a lack of memory. */
import { ServingError } from '../errors.ts';
import type { ServedModel } from '../models/served-model.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import { endedByItself, howEnded, lacksMemory, type ProcessEnd } from './process.ts';

/** What a shell that started it ends with if the kernel killed it. */
const KILLED = 128 + 9;

/**
 * The answer to a load that failed. The same load would end the model server again: that is the archive's fault.
 * @param end how the model server ended meanwhile
 * @param oomKillsBefore {@link ProcessEnd.oomKills} before the load
 * @returns ServingError BAD_ARCHIVE; ConnectionLost where memory was short, MODEL_SERVER_GONE where nobody knows; or another
 *   `error` itself
 */
export function blameModel(
  error: unknown,
  end: ProcessEnd | undefined,
  loading: readonly ServedModel[],
  oomKillsBefore?: number,
): unknown {
  if (!(error instanceof ConnectionLost) || loading.length === 0) return error;
  if (end && isShortage(end, oomKillsBefore)) return error;
  const names = loading.map(({ name }) => `"${name}"`).join(', ');
  if (!end || !isFault(end)) {
    const how = end?.isOurs
      ? 'has answered nothing and was killed'
      : end
        ? howEnded(end)
        : 'was lost';
    return new ServingError(
      'MODEL_SERVER_GONE',
      `the model server ${how} while it loaded model ${names}. The models before it are served on. Load it again.`,
      { cause: error },
    );
  }
  const reason = end.fatal === undefined ? 'without a reason' : `over: ${end.fatal}`;
  return new ServingError(
    'BAD_ARCHIVE',
    `the model server ${howEnded(end)} while it loaded model ${names}, ${reason}. Load it on a laptop (sagemaker-tfs serve), and export it again.`,
    { cause: error },
  );
}

/**
 * Whether it ended, most likely, because memory was short: also by a SIGKILL, unless the kernel says that it has sent none
 * for that.
 */
function isShortage(end: ProcessEnd, oomKillsBefore: number | undefined): boolean {
  if (end.isOurs) return false;
  if (lacksMemory(end)) return true;
  const isKilled = end.signal === 'SIGKILL' || end.status === KILLED;
  return isKilled && (oomKillsBefore === undefined || end.oomKills !== oomKillsBefore);
}

/** Whether it ended over something of its own: also by an exit. */
export function isFault(end: ProcessEnd): boolean {
  if (end.isOurs) return false;
  if (end.signal !== null) return endedByItself(end);
  return end.status !== null && end.status !== KILLED;
}
