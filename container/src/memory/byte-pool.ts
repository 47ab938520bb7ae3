/** Large buffers that are used again, so that not every request allocates its own. */

/** Smaller ones are allocated anew, which costs less than to look for them. */
const MIN_BYTES = 65_536;
/** Of buffers that wait to be used again, all together; the one that waits longest goes first. */
const MAX_IDLE_BYTES = 128 * 1024 * 1024;
/** A buffer that nobody wanted for this long is left to the garbage collector. */
const MAX_IDLE_MS = 10_000;

/** Memory of this process, or memory that its threads share. */
type Memory = ArrayBufferLike;

interface IdleMemory {
  readonly memory: Memory;
  readonly since: number;
}

/** The longest idle first. */
const idle: IdleMemory[] = [];
let idleBytes = 0;
let isSweeping = false;
/** Memory that was taken and may come back, once. */
const taken = new WeakSet<Memory>();

/** A buffer of exactly this size with any content, to be given back or left to the garbage collector. */
export function takeBytes(size: number): Buffer {
  if (size < MIN_BYTES) return Buffer.allocUnsafeSlow(size);
  const known = take(size, false);
  const buffer = known ? Buffer.from(known) : Buffer.allocUnsafeSlow(size);
  taken.add(buffer.buffer);
  return buffer;
}

/** As {@link takeBytes}, of memory that threads share. */
export function takeSharedBytes(size: number): Uint8Array {
  const memory = take(size, true) ?? new SharedArrayBuffer(size);
  if (size >= MIN_BYTES) taken.add(memory);
  return new Uint8Array(memory);
}

/** Takes back what was taken and nobody reads or writes any more; anything else is left alone. */
export function giveBytes(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength !== buffer.byteLength || !taken.delete(buffer)) return;
  idle.push({ memory: buffer, since: performance.now() });
  idleBytes += byteLength;
  while (idleBytes > MAX_IDLE_BYTES) forget(0);
  if (!isSweeping) sweepLater();
}

function take(size: number, shared: boolean): Memory | undefined {
  const index = idle.findLastIndex(
    ({ memory }) => memory.byteLength === size && memory instanceof SharedArrayBuffer === shared,
  );
  const found = idle[index]?.memory;
  if (found) forget(index);
  return found;
}

function sweep(): void {
  const longest = performance.now() - MAX_IDLE_MS;
  while (idle[0] && idle[0].since <= longest) forget(0);
  isSweeping = false;
  if (idle.length > 0) sweepLater();
}

function sweepLater(): void {
  isSweeping = true;
  setTimeout(sweep, MAX_IDLE_MS).unref();
}

function forget(index: number): void {
  const [gone] = idle.splice(index, 1);
  idleBytes -= gone?.memory.byteLength ?? 0;
}
