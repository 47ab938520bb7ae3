/**
 * A module that is loaded when it is first needed, and kept. A bare `import()` asks the loader at every call: 8 µs, and
 * more than a millisecond, in which the thread waits, where Node 20 asks a handler's hooks in a thread of their own.
 */
export function loadOnce<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
