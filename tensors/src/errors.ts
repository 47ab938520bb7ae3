/** The room's catalogue: which rule the tensor data broke. */
export const TENSOR_ERRORS = {
  UNSUPPORTED_DTYPE:
    'TensorFlow has the dtype, but it is not supported here: complex, quantized, resource or variant.',
  SHAPE_MISMATCH:
    'The bytes or values do not fill the shape, or have another dtype; or a size is negative or fractional.',
  VALUE_OUT_OF_RANGE: 'The dtype cannot hold the value.',
  MALFORMED: 'The bytes break their format: truncated, wrong magic, or lengths past the end.',
  TOO_LARGE: "Decompressed, the data is larger than the caller's limit.",
} as const;

/** A code of the catalogue. */
export type TensorErrorCode = keyof typeof TENSOR_ERRORS;

/** Thrown by everything in this package for bad data; callers map `code` to their own catalogue. */
export class TensorError extends Error {
  readonly code: TensorErrorCode;

  constructor(code: TensorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TensorError';
    this.code = code;
  }
}
