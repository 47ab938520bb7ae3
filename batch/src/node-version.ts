/** The Node that the command, the test kit and the constructs need. */
import { BatchError } from './errors.ts';

/** The oldest Node, as `engines` of the packages has it. */
const OLDEST = [20, 19] as const;

/**
 * Refuses an older Node with one sentence, before something fails that it does not have.
 * @param name what needs it: `sagemaker-tfs/testing`
 * @param version of the Node that runs
 * @throws BatchError NODE_TOO_OLD, without a stack
 */
export function requireNode(name: string, version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  const error = new BatchError(
    'NODE_TOO_OLD',
    `${name} needs Node ${OLDEST.join('.')} or later, this is ${version}. Install a newer one from https://nodejs.org.`,
  );
  // Node prints the stack of what ends a program.
  error.stack = error.message;
  throw error;
}
