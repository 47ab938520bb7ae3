/**
 * Large buffers that are used again. V8 counts them against its own heap: where every request allocates some
 * hundred kilobytes anew, it collects garbage several times a second, in all of its threads; and the kernel
 * clears every page of every new one.
 */

/** Smaller ones are allocated anew, which costs less than to look for them. */
const LEAST_BYTES = 65_536;
/** Of buffers that wait to be used again, all together; the one that waits longest goes first. */
const MOST_IDLE_BYTES = 128 * 1024 * 1024;
/** A buffer that nobody wanted for so long is given to the garbage collector. */
const MOST_IDLE_MS = 10_000;

interface IdleBuffer {
  readonly buffer: Buffer;
  readonly since: number;
}

/** The longest idle first. */
const idle: IdleBuffer[] = [];
let idleBytes = 0;
let isSweeping = false;
/** Memory that was taken and may come back, once. */
const taken = new WeakSet<ArrayBufferLike>();

/** A buffer of exactly this size with any content, to be given back or left to the garbage collector. */
export function takeBytes(size: number): Buffer {
  if (size < LEAST_BYTES) return Buffer.allocUnsafeSlow(size);
  const index = idle.findLastIndex(({ buffer }) => buffer.byteLength === size);
  const known = idle[index]?.buffer;
  if (known) forget(index);
  const buffer = known ?? Buffer.allocUnsafeSlow(size);
  taken.add(buffer.buffer);
  return buffer;
}

/** Takes back what {@link takeBytes} gave and nobody reads any more; anything else is left alone. */
export function giveBytes(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength !== buffer.byteLength || !taken.delete(buffer)) return;
  idle.push({ buffer: Buffer.from(buffer), since: performance.now() });
  idleBytes += byteLength;
  while (idleBytes > MOST_IDLE_BYTES) forget(0);
  if (!isSweeping) sweepLater();
}

function sweep(): void {
  const longest = performance.now() - MOST_IDLE_MS;
  while (idle[0] && idle[0].since <= longest) forget(0);
  isSweeping = false;
  if (idle.length > 0) sweepLater();
}

function sweepLater(): void {
  isSweeping = true;
  setTimeout(sweep, MOST_IDLE_MS).unref();
}

function forget(index: number): void {
  const [gone] = idle.splice(index, 1);
  idleBytes -= gone?.buffer.byteLength ?? 0;
}
