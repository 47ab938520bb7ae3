/** Finds TensorFlow's library, or fetches it. */
import { LibTensorFlowError } from './errors.ts';
import { cachedLibrary } from './fetch/cache.ts';
import { type FetchOptions, fetchLibrary } from './fetch/fetch-library.ts';
import { pinnedWheel } from './fetch/pinned-wheel.ts';
import { findLibrary } from './find-library.ts';
import { type LibraryLocation, libraryNames } from './library-location.ts';

/**
 * The library that is on the machine already, else the pinned one, fetched into the cache with the user's
 * pip: 275 MB to download, 850 MB kept.
 *
 * @throws LibTensorFlowError LIBRARY_NOT_FOUND if LIBTENSORFLOW_PATH is wrong or no wheel is pinned for
 * this machine, LIBRARY_FETCH_FAILED where fetching failed; the reason of `signal` where it aborted
 */
export async function ensureLibrary(options: FetchOptions = {}): Promise<LibraryLocation> {
  const found = await findLibrary(options.signal);
  if (found) return found;
  options.signal?.throwIfAborted();
  const wheel = pinnedWheel();
  if (!wheel) {
    throw new LibTensorFlowError(
      'LIBRARY_NOT_FOUND',
      `There is no libtensorflow to fetch for ${process.platform} on ${process.arch}. Set ` +
        `LIBTENSORFLOW_PATH to a directory that holds ${libraryNames()}.`,
    );
  }
  await fetchLibrary(wheel, options);
  const fetched = await cachedLibrary();
  if (fetched) return fetched;
  throw new LibTensorFlowError('LIBRARY_FETCH_FAILED', 'The fetched library is gone. Try again.');
}
