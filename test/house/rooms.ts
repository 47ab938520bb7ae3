/** What each room may import, as docs/architecture.md draws it. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  tensors: [],
  manifest: ['tensors'],
  batch: ['tensors'],
  libtensorflow: ['tensors'],
  'local-model-server': ['tensors', 'libtensorflow'],
  container: ['tensors', 'manifest', 'batch', 'libtensorflow'],
  client: ['tensors'],
  'model-packaging': ['tensors', 'manifest', 'batch', 'libtensorflow', 'container'],
  playground: ['tensors', 'client'],
  cli: [
    'tensors',
    'manifest',
    'batch',
    'libtensorflow',
    'local-model-server',
    'container',
    'client',
    'model-packaging',
    'playground',
  ],
  lib: ['tensors', 'manifest', 'batch', 'container', 'cli'],
};

/** The names of the rooms. */
export const ROOMS: readonly string[] = Object.keys(MAY_IMPORT);
