/** Where tests find `tensorflow_model_server`. */
import { join } from 'node:path';

/**
 * Directory that goes first on the PATH of what tests start: the local model server's, or, for
 * `npm run with-real-server`, the one that `TEST_MODEL_SERVER_BIN` names.
 */
export const MODEL_SERVER_BIN: string =
  process.env.TEST_MODEL_SERVER_BIN ??
  join(import.meta.dirname, '..', '..', '..', 'local-model-server', 'bin');
