/**
 * How far a worker is with each of its connections, in a file of a byte for each, which outlives it however it dies.
 * The file has no name: a worker inherits it.
 */
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is known of a connection. */
export const CONNECTION_STATE = {
  /** No request, or one that was answered whole. */
  idle: 0,
  /** A request without a byte of its answer sent. */
  asked: 1,
  /** An answer may have been sent in part. */
  answering: 2,
} as const;

/** One of {@link CONNECTION_STATE}. */
type ConnectionState = (typeof CONNECTION_STATE)[keyof typeof CONNECTION_STATE];

/** Where a worker finds the file: behind the standard streams and the channel to the primary. */
export const STATES_FILE = 4;

const BYTES = Object.values(CONNECTION_STATE).map((state) => Uint8Array.of(state));

/** Makes the file of one worker. @returns its descriptor */
export function createStates(): number {
  const name = `sagemaker-tfs-${process.pid}-${Math.random().toString(36).slice(2)}`;
  // Memory where there is such a file system; elsewhere the page cache takes so few bytes as well.
  for (const directory of ['/dev/shm', tmpdir()]) {
    try {
      const path = join(directory, name);
      const file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      return file;
    } catch (error) {
      if (directory === tmpdir()) throw error;
    }
  }
  throw new Error('no directory for temporary files');
}

/** Notes the state of a connection. */
export function noteState(file: number, slot: number, state: ConnectionState): void {
  writeSync(file, BYTES[state] as Uint8Array, 0, 1, slot);
}

/** The states of the connections up to `slots`. What was never noted is idle. */
export function readStates(file: number, slots: number): Uint8Array {
  const states = new Uint8Array(slots);
  readSync(file, states, 0, slots, 0);
  return states;
}

/** Closes the file once the worker has exited and its states were read. */
export function closeStates(file: number): void {
  closeSync(file);
}
