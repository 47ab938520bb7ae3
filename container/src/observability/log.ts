/** The structured log: one JSON object a line on standard output. */
import fs from 'node:fs';
import pino, { type Logger } from 'pino';
import type { Environment } from '../environment.ts';
import { readThrown } from '../thrown.ts';

/** Bytes that are collected before they are written; a line for every request must not cost a write each. */
const BUFFERED_BYTES = 8192;
/** Bytes that one write to a pipe keeps together whoever else writes (PIPE_BUF), and a part of them. */
const SHARED = { maxWrite: 4096, minLength: 3072 };
const FLUSH_INTERVAL_MS = 200;

/**
 * A log whose lines reach standard output within a moment, and all of them before the process ends.
 * @param shared whether other processes write to the same standard output
 */
export function createLog(level: Environment['logLevel'], shared = false): Logger {
  const destination = pino.destination({
    fd: 1,
    sync: false,
    ...(shared ? SHARED : { minLength: BUFFERED_BYTES }),
  });
  setInterval(() => destination.flush(), FLUSH_INTERVAL_MS).unref();
  const flushSync = destination.flushSync.bind(destination);
  destination.flushSync = () => givingUp(flushSync);
  process.once('exit', () => {
    try {
      destination.flushSync();
    } catch {
      // Standard output is gone, and with it the place for a complaint.
    }
  });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // pino's own reads all properties and all causes, and throws where one of them does.
      serializers: { err: readThrown },
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/**
 * Flushes; what a closed standard output does not take is dropped. sonic-boom would write it again and again
 * without end, and the process would never exit.
 */
function givingUp(flushSync: () => void): void {
  const { writeSync } = fs;
  fs.writeSync = ((fd: number, text: string | Uint8Array) => {
    try {
      return writeSync(fd, text as string);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') throw error;
      return Buffer.byteLength(text);
    }
  }) as typeof fs.writeSync;
  try {
    flushSync();
  } finally {
    fs.writeSync = writeSync;
  }
}
