/** Arrays that a handler returns must still have their memory. */

/** The array. @throws Error if its memory was transferred: it would be sent as an empty one */
export function attached<T extends NodeJS.TypedArray>(array: T): T {
  try {
    // Throws without memory, where `length` is 0 as that of an empty array.
    Uint8Array.prototype.at.call(array, 0);
    return array;
  } catch (cause) {
    const message =
      'the memory of an array that it returned was transferred (postMessage, structuredClone). Return a copy made before.';
    throw new Error(message, { cause });
  }
}
