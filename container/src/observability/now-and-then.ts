/** Between two lines of the log about the same. */
const QUIET_MS = 10_000;

/** Calls what it is given, unless it has called something within the last 10 s: an attack must not fill the log. */
export function nowAndThen(): (tell: () => void) => void {
  let toldAt = -Infinity;
  return (tell) => {
    if (performance.now() - toldAt < QUIET_MS) return;
    toldAt = performance.now();
    tell();
  };
}
