/** What both sides of an HTTP/2 connection begin with, and what they say of it (RFC 9113, sections 5.2 and 6.5). */
import { FrameType, frame, numberFrame } from './frames.ts';

/** Parameters of a SETTINGS frame. */
export const Setting = {
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
} as const;

/** A parameter and its value. */
export type SettingEntry = readonly [id: number, value: number];

/** Bytes of DATA that may be sent before the other side has said anything: on a stream, on the connection. */
export const FIRST_WINDOW_BYTES = 65_535;
/** The greatest payload before the other side has said anything. */
export const FIRST_FRAME_BYTES = 16_384;
/** The greatest window that HTTP/2 allows: a message is never stopped on its way. */
const MAX_WINDOW_BYTES = 2 ** 31 - 1;
/** The greatest frame that HTTP/2 allows. */
export const MAX_FRAME_BYTES = 2 ** 24 - 1;
/** Received bytes after which the connection's window is opened again. */
export const WINDOW_UPDATE_BYTES = 2 ** 26;

const ENTRY_BYTES = 6;

/** Opens windows and frames as far as HTTP/2 allows, after a side's `own` settings. */
export function greeting(own: readonly SettingEntry[] = []): Buffer {
  return Buffer.concat([
    settingsFrame([
      ...own,
      [Setting.INITIAL_WINDOW_SIZE, MAX_WINDOW_BYTES],
      [Setting.MAX_FRAME_SIZE, MAX_FRAME_BYTES],
    ]),
    numberFrame(FrameType.WINDOW_UPDATE, 0, MAX_WINDOW_BYTES - FIRST_WINDOW_BYTES),
  ]);
}

/** The parameters in the payload of a SETTINGS frame, in order. */
export function* settingsIn(payload: Buffer): Generator<SettingEntry, void> {
  for (let at = 0; at + ENTRY_BYTES <= payload.length; at += ENTRY_BYTES) {
    yield [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
  }
}

function settingsFrame(settings: readonly SettingEntry[]): Buffer {
  const payload = Buffer.alloc(settings.length * ENTRY_BYTES);
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * ENTRY_BYTES);
    payload.writeUInt32BE(value, index * ENTRY_BYTES + 2);
  });
  return frame({ type: FrameType.SETTINGS, flags: 0, stream: 0 }, payload);
}
