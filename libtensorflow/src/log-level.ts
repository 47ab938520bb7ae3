/** The least level of TensorFlow's log lines, also of those before it has set up its log. */
import { readFileSync } from 'node:fs';
import koffi, { type LibraryHandle } from 'koffi';

/** Environment variable: 0 all lines, 1 no information, 2 no warnings, 3 no errors. */
const VARIABLE = 'TF_CPP_MIN_LOG_LEVEL';
const ERRORS_ONLY = 2;

/** The end of `absl::SetMinLogLevel(LogSeverityAtLeast)`; before it stands Abseil's version. */
const FUNCTION = '14SetMinLogLevelENS0_18LogSeverityAtLeastE';
const NAMESPACE = '_ZN4absl';
/** Characters of namespace and version at most. */
const LONGEST_START = 40;

/** Lets only errors through unless the environment says otherwise. Before the library is loaded. */
export function defaultLogLevel(): void {
  // Not process.env: in worker threads and under jest that is a copy, which native code does not see.
  const setenv = koffi
    .load(null)
    .func('int setenv(const char *name, const char *value, int overwrite)');
  setenv(VARIABLE, String(ERRORS_ONLY), 0);
}

/**
 * Sets the level in the library itself. From TensorFlow 2.20 on Abseil writes the lines, and knows nothing of the variable
 * before Python has set up the log. A library without Abseil's function reads the variable.
 * @param file that the library was loaded from
 */
export function setLogLevel(library: LibraryHandle, file: string): void {
  const getenv = koffi.load(null).func('const char *getenv(const char *name)');
  const level = Number(getenv(VARIABLE));
  const name = symbolOf(file);
  if (name === undefined || ![0, 1, 2, 3].includes(level)) return;
  library.func(`void ${name}(int level)`)(level);
}

function symbolOf(file: string): string | undefined {
  const bytes = readFileSync(file);
  const end = bytes.indexOf(FUNCTION);
  const start = bytes.lastIndexOf(NAMESPACE, end);
  if (end < 0 || start < 0 || end - start > LONGEST_START) return undefined;
  return `${bytes.toString('latin1', start, end)}${FUNCTION}`;
}
