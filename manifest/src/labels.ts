/** The bytes of a labels file. */
import { ManifestError } from './errors.ts';

export { ManifestError };

/** More than any list of classes takes. A runtime that serves models of several owners reads their files too. */
export const LABELS_LIMITS = { bytes: 64 * 2 ** 20, labels: 2 ** 20 } as const;

const LINE_FEED = 10;

/**
 * Asked before the file is read.
 * @param name the file, for the message
 * @throws ManifestError for more bytes than {@link LABELS_LIMITS}
 */
export function checkLabelsSize(bytes: number, name: string): void {
  if (bytes <= LABELS_LIMITS.bytes) return;
  throw new ManifestError(
    'LABELS_INVALID',
    '',
    `the labels file ${name} has ${bytes} bytes. ${LABELS_LIMITS.bytes} are the most. Write one label a line.`,
  );
}

/**
 * Labels of a UTF-8 text, one a line: that of class `i` is at index `i`.
 * @param name the file, for the message
 * @throws ManifestError for more bytes or labels than {@link LABELS_LIMITS}
 */
export function parseLabels(bytes: Uint8Array, name: string): readonly string[] {
  checkLabelsSize(bytes.byteLength, name);
  checkCount(bytes, name);
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.trim());
}

/** Before there is a string for each line. */
function checkCount(bytes: Uint8Array, name: string): void {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    lines++;
    if (lines <= LABELS_LIMITS.labels) continue;
    throw new ManifestError(
      'LABELS_INVALID',
      '',
      `the labels file ${name} has more than ${LABELS_LIMITS.labels} lines. Write one a class.`,
    );
  }
}
