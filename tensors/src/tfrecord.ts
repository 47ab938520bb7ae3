/** TensorFlow's TFRecord files: https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details */
import { maskedCrc32c } from './crc32c.ts';
import { BadFrame, type Part, recordReaders } from './record-format.ts';
import { dataViewOf } from './text.ts';

const LENGTH_BYTES = 8;
const CRC_BYTES = 4;
const HEADER_BYTES = LENGTH_BYTES + CRC_BYTES;

const readers = recordReaders({ name: 'TFRecord', partAt });

/** The records of a file, as views; both checksums of each are checked. @throws TensorError MALFORMED */
export const readTfRecords = readers.read;

/** The records of a stream. @throws TensorError MALFORMED, TOO_LARGE */
export const streamTfRecords = readers.stream;

/** One record in chunks, the record itself uncopied; a file is any number of them. */
export function encodeTfRecord(record: Uint8Array): Uint8Array[] {
  const header = new Uint8Array(HEADER_BYTES);
  const view = dataViewOf(header);
  view.setBigUint64(0, BigInt(record.byteLength), true);
  view.setUint32(LENGTH_BYTES, maskedCrc32c(header.subarray(0, LENGTH_BYTES)), true);
  const footer = new Uint8Array(CRC_BYTES);
  dataViewOf(footer).setUint32(0, maskedCrc32c(record), true);
  return [header, record, footer];
}

function partAt(bytes: Uint8Array, offset: number): Part | number {
  const dataStart = offset + HEADER_BYTES;
  if (dataStart > bytes.byteLength) return HEADER_BYTES;
  const view = dataViewOf(bytes);
  const lengthBytes = bytes.subarray(offset, offset + LENGTH_BYTES);
  if (view.getUint32(offset + LENGTH_BYTES, true) !== maskedCrc32c(lengthBytes)) {
    throw new BadFrame(
      'its length does not fit its checksum (not a TFRecord file, or a compressed one?)',
    );
  }
  const dataEnd = dataStart + Number(view.getBigUint64(offset, true));
  const end = dataEnd + CRC_BYTES;
  if (end > bytes.byteLength) return end - offset;
  const data = bytes.subarray(dataStart, dataEnd);
  if (view.getUint32(dataEnd, true) !== maskedCrc32c(data)) {
    throw new BadFrame('its data does not fit its checksum');
  }
  return { data, end, isLast: true };
}
