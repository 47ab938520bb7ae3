/** Files of many records that `batch pack` makes, by the name of their framing: the ends of their names. */
export const PACK_ENDINGS = {
  tfrecord: '.tfrecord',
  recordio: '.rec',
  'length-prefixed': '.bin',
} as const;

/** Framing of the records of a packed file. */
export type PackFormat = keyof typeof PACK_ENDINGS;

/** Their names. */
export const PACK_FORMATS = Object.keys(PACK_ENDINGS) as [PackFormat, ...PackFormat[]];
