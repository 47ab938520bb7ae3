/** The room's catalogue: what goes wrong with the library, with the model, with a call, or inside TensorFlow. */
export const LIBTENSORFLOW_ERRORS = {
  LIBRARY_NOT_FOUND: 'This machine has no libtensorflow, or the place that you named holds none.',
  LIBRARY_FETCH_FAILED:
    'The wheel cannot be fetched, checked or unpacked. No partial file is kept.',
  LIBRARY_LOAD_FAILED: "The system's loader refuses the library.",
  NOT_A_SAVED_MODEL: 'The directory has neither `saved_model.pb` nor `saved_model.pbtxt`.',
  MODEL_LOAD_FAILED: 'TensorFlow cannot load the SavedModel.',
  UNKNOWN_SIGNATURE: 'The model has no such signature.',
  UNKNOWN_INPUT: 'The signature has no such input.',
  MISSING_INPUT: 'An input of the signature is missing.',
  UNKNOWN_OUTPUT: 'The signature has no such output.',
  WRONG_DTYPE: 'A tensor is of a dtype that is not supported.',
  WRONG_SHAPE: 'The bytes of an input do not fill its shape.',
  RUN_FAILED: 'TensorFlow ran the model and reported an error.',
  TOO_MANY_STRINGS: 'The outputs hold more strings than the session was told to read.',
  TOO_MANY_BYTES:
    'The outputs hold more bytes of numbers than the session was told to read, or than Node can.',
  SESSION_CLOSED: 'The session was closed before the call.',
} as const;

/** A code of the catalogue. */
export type LibTensorFlowErrorCode = keyof typeof LIBTENSORFLOW_ERRORS;

/** Thrown by everything in this package; callers map `code` to their own catalogue. */
export class LibTensorFlowError extends Error {
  readonly code: LibTensorFlowErrorCode;
  /** TensorFlow's status code (`TF_Code`, tensorflow/c/tf_status.h) where TensorFlow reported the error. */
  readonly tfCode?: number;

  constructor(
    code: LibTensorFlowErrorCode,
    message: string,
    options?: ErrorOptions & { tfCode?: number },
  ) {
    super(message, options);
    this.name = 'LibTensorFlowError';
    this.code = code;
    if (options?.tfCode !== undefined) this.tfCode = options.tfCode;
  }
}
