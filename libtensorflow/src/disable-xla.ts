/** TensorFlow's switch that forbids XLA to compile, as TensorFlow Serving's main.cc turns it. */
import koffi from 'koffi';
import { preloadLibrary } from './c-api.ts';
import type { LibraryLocation } from './library-location.ts';

/** `void tensorflow::DisableXlaCompilation()` of tensorflow/compiler/jit/flags.h. */
const DISABLE = '_ZN10tensorflow21DisableXlaCompilationEv';

/**
 * Forbids XLA to compile, in this process and for good: a run that would compile fails with INTERNAL, "XLA compilation
 * disabled".
 * @returns false if the library does not export the switch, as those of the libtensorflow archives
 */
export async function disableXlaCompilation(location: LibraryLocation): Promise<boolean> {
  await preloadLibrary(location);
  const disable = switchOf(location);
  disable?.();
  return disable !== undefined;
}

function switchOf({ cc }: LibraryLocation): (() => void) | undefined {
  const library = koffi.load(cc, { deep: true });
  try {
    return library.func(`void ${DISABLE}()`) as () => void;
  } catch {
    return undefined;
  }
}
