/** Log lines in the shape of TensorFlow Serving's own, on stderr. */

function write(severity: 'I' | 'W' | 'E' | 'F', message: string): void {
  const time = new Date().toISOString().replace('T', ' ').replace('Z', '000');
  process.stderr.write(`${time}: ${severity} local_model_server] ${message}\n`);
}

/** One line a call; the time is UTC. */
export const log = {
  info: (message: string): void => write('I', message),
  warning: (message: string): void => write('W', message),
  error: (message: string): void => write('E', message),
};

/** Ends the process as a failed `CHECK` of TensorFlow's does, by SIGABRT, with all its requests. */
export function dieOfCheck(check: string): never {
  write('F', `Check failed: ${check}`);
  process.abort();
}
